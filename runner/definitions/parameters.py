"""The short form of a tool's parameters, and the JSON Schema it stands for."""

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

_SCHEMA_KEYS: Final = frozenset({"$schema", "$ref", "$defs", "$id"})


def is_json_schema(parameters: Mapping[str, JsonValue]) -> bool:
    """Whether parameters are written as JSON Schema rather than in the short form."""
    properties = parameters.get("properties")
    lists_properties = isinstance(properties, dict) and all(
        isinstance(schema, dict | bool) for schema in properties.values()
    )
    return (
        parameters.get("type") == "object"
        or (lists_properties and "properties" in parameters)
        or not _SCHEMA_KEYS.isdisjoint(parameters)
    )


def as_json_schema(parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """
    Write parameters as JSON Schema.

    In the short form `city: string` is a required parameter, and `days: {type: integer,
    default: 3}` one that may be left out.
    """
    if is_json_schema(parameters):
        return {"type": "object", **parameters}
    properties: dict[str, JsonValue] = {
        name: {"type": value} if isinstance(value, str) else value
        for name, value in parameters.items()
    }
    required: list[JsonValue] = [
        name
        for name, value in parameters.items()
        if not (isinstance(value, dict) and "default" in value)
    ]
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}
