"""What the operator says a model costs."""

from decimal import Decimal
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticKnownError

from runner.definitions.base import StrictModel

_DEAREST: Final = 100_000
_MILLIONTHS: Final = 6


def _exact(value: object) -> object:
    """Take a number as it was written: its shortest decimal form is the one in the file."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Decimal(repr(value))
    if isinstance(value, Decimal):
        return value
    raise PydanticKnownError("float_type")


#: US dollars, exactly.
Dollars: TypeAlias = Annotated[
    Decimal,
    Field(ge=0, le=_DEAREST, decimal_places=_MILLIONTHS),
    BeforeValidator(_exact),
    PlainSerializer(float, return_type=float),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": _DEAREST, "examples": [3.0]}),
]


class Price(StrictModel):
    """US dollars for a million tokens of each kind."""

    #: Tokens that are read, but for those of the prompt cache.
    input: Dollars
    #: Tokens that are written; what the model thinks is among them.
    output: Dollars
    #: Tokens read from the prompt cache; left out, as `input`.
    cache_read: Dollars | None = None
    #: Tokens written to the prompt cache; left out, as `input`.
    cache_write: Dollars | None = None
