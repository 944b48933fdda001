"""The database's clock in SQL: every time in a table is stamped and compared with it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import ColumnElement, Float, SQLColumnExpression, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from runner.store.types import Instant

#: Microseconds since 1970, of which SQLite's clock knows the thousands.
_SQLITE_NOW: Final = (
    "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000"
    " + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
)
#: Unlike now(), this does not stand still for a whole transaction.
_POSTGRESQL_NOW: Final = "statement_timestamp()"


class _Now(FunctionElement[datetime]):
    inherit_cache: bool | None = True
    type: TypeEngine[datetime] = Instant()
    templates: ClassVar[Mapping[str, str]] = {"postgresql": _POSTGRESQL_NOW, "sqlite": _SQLITE_NOW}


class _NowPlus(FunctionElement[datetime]):
    inherit_cache: bool | None = True
    type: TypeEngine[datetime] = Instant()
    # Seconds, never days: in the time zone of a session a day is not always 24 hours.
    templates: ClassVar[Mapping[str, str]] = {
        "postgresql": f"({_POSTGRESQL_NOW} + make_interval(secs => {{0}}))",
        "sqlite": f"({_SQLITE_NOW} + CAST(round({{0}} * 1000000) AS INTEGER))",
    }


class _SecondsUntil(FunctionElement[float]):
    inherit_cache: bool | None = True
    type: TypeEngine[float] = Float()
    templates: ClassVar[Mapping[str, str]] = {
        "postgresql": f"CAST(extract(epoch FROM {{0}} - {_POSTGRESQL_NOW}) AS double precision)",
        "sqlite": f"(({{0}} - {_SQLITE_NOW}) / 1000000.0)",
    }


def db_now() -> ColumnElement[datetime]:
    """Return the time of the database when the statement began."""
    return _Now()


def db_now_plus(delta: timedelta | str) -> ColumnElement[datetime]:
    """Return the database's time *delta* from now, or the named parameter's seconds from now."""
    if isinstance(delta, str):
        return _NowPlus(bindparam(delta, type_=Float()))
    return _NowPlus(bindparam(None, delta.total_seconds(), type_=Float()))


def seconds_until(instant: SQLColumnExpression[datetime | None]) -> ColumnElement[float]:
    """Return how far *instant* lies ahead by the database's clock."""
    return _SecondsUntil(instant)


@compiles(_Now)
@compiles(_NowPlus)
@compiles(_SecondsUntil)
def _in_dialect(
    element: _Now | _NowPlus | _SecondsUntil,
    compiler: SQLCompiler,
    **kw: Any,  # noqa: ANN401 - what SQLAlchemy hands on
) -> str:
    arguments = (compiler.process(argument, **kw) for argument in element.clauses)
    return element.templates[compiler.dialect.name].format(*arguments)
