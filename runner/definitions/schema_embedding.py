"""A JSON Schema made part of another one."""

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from runner.definitions.json_schema import DATA_KEYWORDS, NAMING_KEYWORDS, REFERENCE_KEYWORDS

#: What only the outermost schema says of itself.
_OUTERMOST: Final = frozenset({"$schema", "$id"})


def embedded(schema: Mapping[str, JsonValue], place: str) -> dict[str, JsonValue]:
    """
    Write a schema so that it means the same inside another one.

    Args:
        schema: One whose references all stay within it.
        place: Where it will stand, as a JSON pointer such as `/properties/input`.

    Raises:
        ValueError: A part of it has an id of its own, so that references beneath it would lead
            elsewhere.
    """
    outermost = {key: value for key, value in schema.items() if key not in _OUTERMOST}
    return _moved(outermost, place)


def _moved(schema: Mapping[str, JsonValue], place: str) -> dict[str, JsonValue]:
    if "$id" in schema:
        raise ValueError("a part of it has an $id")
    return {key: _moved_value(key, value, place) for key, value in schema.items()}


def _moved_value(key: str, value: JsonValue, place: str) -> JsonValue:
    match value:
        case str() if key in REFERENCE_KEYWORDS:
            is_pointer = value == "#" or value.startswith("#/")
            return f"#{place}{value[1:]}" if is_pointer else value
        case dict() if key in NAMING_KEYWORDS:
            return {name: _moved_value("", inner, place) for name, inner in value.items()}
        case dict() if key not in DATA_KEYWORDS:
            return _moved(value, place)
        case list() if key not in DATA_KEYWORDS:
            return [_moved_value("", item, place) for item in value]
    return value
