"""JSON values, and the one place where foreign text becomes storable."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
JsonObject: TypeAlias = Mapping[str, JsonValue]

#: Neither a PostgreSQL text column nor a UTF-8 request body can hold these.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_MAX_DEPTH: Final = 64
#: Larger integers lose digits in other readers of JSON, so they travel as text.
_MAX_INTEGER: Final = 2**63


def storable_text(text: str) -> str:
    """Replace NUL and lone surrogates, which no database and no provider takes."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def storable(value: object, *, depth: int = 0) -> JsonValue:
    """
    Turn anything a tool may return into a JSON value that every database stores alike.

    NaN and infinities become text, bytes become text with undecodable bytes replaced, huge
    integers become text, sets and tuples become lists, pydantic models and dataclasses must have
    been dumped by the caller, and any other object becomes its `str`.
    """
    match value:
        case None | bool():
            return value
        case str():
            return storable_text(value)
        case int():
            return int(value) if -_MAX_INTEGER < value < _MAX_INTEGER else _integer_text(value)
        case float():
            return float(value) if math.isfinite(value) else str(value)
        case bytes() | bytearray():
            return storable_text(value.decode(errors="replace"))
        case _:
            return _storable_container(value, depth)


def _storable_container(value: object, depth: int) -> JsonValue:
    if depth >= _MAX_DEPTH:
        return "… nested too deeply"
    match value:
        case Mapping():
            return {
                storable_text(str(key)): storable(item, depth=depth + 1)
                for key, item in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [storable(item, depth=depth + 1) for item in value]
        case _:
            return storable_text(str(value))


def _integer_text(value: int) -> str:
    """Write *value* in hexadecimal, which unlike decimal has no limit on its digits."""
    return hex(value)


def dump_json(value: object) -> str:
    """Write *value* compactly, keeping the order of keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: object) -> str:
    """Write *value* so that equal values are equal texts."""
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False
    )
