"""The base of every model that reads what people wrote: strict, closed and immutable."""

from datetime import timedelta
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from runner.definitions.field_comments import field_comments
from runner.definitions.scalars import format_duration

T = TypeVar("T")

#: A list in YAML, a tuple in Python.
Items: TypeAlias = Annotated[tuple[T, ...], Field(strict=False)]


def _describe(schema: dict[str, JsonValue], model: type[BaseModel]) -> None:
    """Add comments, and durations as they are written, to a JSON Schema that is being made."""
    properties = schema.get("properties")
    comments = field_comments(model)
    listed = properties.items() if isinstance(properties, dict) else ()
    for name, described in ((name, one) for name, one in listed if isinstance(one, dict)):
        if name in comments:
            described["description"] = comments[name]
        default = model.model_fields[name].default
        if isinstance(default, BaseModel):
            described.pop("default", None)
        elif isinstance(default, timedelta):
            described["default"] = format_duration(default)


class StrictModel(BaseModel):
    """
    A model without conversions, unknown keys or changes.

    A key that may be left out has a default. Null is refused by the loader, wherever it stands.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        json_schema_extra=_describe,
    )
