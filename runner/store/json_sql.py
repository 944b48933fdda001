"""JSON text in SQL: its fields, and its items as rows."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from sqlalchemy import ColumnElement, SQLColumnExpression, TableValuedAlias, Text, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine


class _Field(FunctionElement[str]):
    inherit_cache: bool | None = True
    type: TypeEngine[str] = Text()
    templates: ClassVar[Mapping[str, str]] = {
        "postgresql": "(CAST({0} AS json) ->> {1})",
        "sqlite": "json_extract({0}, '$.' || {1})",
    }


class _Items(FunctionElement[str]):
    inherit_cache: bool | None = True
    type: TypeEngine[str] = Text()
    templates: ClassVar[Mapping[str, str]] = {
        "postgresql": "json_array_elements(CAST({0} AS json))",
        "sqlite": "json_each({0})",
    }


#: What both databases call the column of an item.
_ITEM: Final = "value"


def json_field(text: SQLColumnExpression[str], name: str) -> ColumnElement[str]:
    """Return a field of a JSON object as text, or as the number it is where the database does."""
    return _Field(text, literal_column(repr(name)))


def json_items(array: SQLColumnExpression[str], name: str) -> TableValuedAlias:
    """Return the items of a JSON array as rows with a column `value`, under an alias."""
    return _Items(array).table_valued(_ITEM, name=name)


@compiles(_Field)
@compiles(_Items)
def _in_dialect(
    element: _Field | _Items,
    compiler: SQLCompiler,
    **kw: Any,  # noqa: ANN401 - what SQLAlchemy hands on
) -> str:
    arguments = (compiler.process(argument, **kw) for argument in element.clauses)
    return element.templates[compiler.dialect.name].format(*arguments)
