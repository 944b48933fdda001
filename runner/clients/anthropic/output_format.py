"""Makes an output schema fit what the API can hold a model to."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from runner.core.errors import ConfigError
from runner.core.jsonvalue import JsonObject, JsonValue

_MAX_OPTIONAL: Final = 24
_MAX_UNIONS: Final = 16
_REFERENCE: Final = re.compile(r"#/\$defs/([^/~%]+)")
_BEYOND_PATTERNS: Final = re.compile(r"\(\?|\\[1-9bB]")

_KEPT: Final = frozenset({"type", "title", "description", "enum", "const", "required"})
#: What only narrows a value down; whoever checks the answer checks these as well.
_DROPPED: Final = frozenset(
    {
        "$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
_FORMATS: Final = frozenset(
    {
        "date-time", "time", "date", "duration", "email",
        "hostname", "uri", "ipv4", "ipv6", "uuid",
    }
)  # fmt: skip


def fit(schema: JsonObject) -> JsonObject | None:
    """
    Return *schema* in the API's subset of JSON Schema, or None when it cannot be said there.

    Constraints on numbers, lengths and counts are left out, so an answer that fits the result
    still has to be checked against *schema* itself. Objects are closed.
    """
    try:
        fitted = _fit(schema)
        _refuse_recursion(fitted)
        _refuse_excess(fitted)
    except ConfigError:
        return None
    return fitted if fitted.get("type") == "object" else None


def _fit(schema: JsonValue) -> JsonObject:
    if not isinstance(schema, Mapping):
        raise ConfigError("true and false as schemas cannot be said")
    fitted: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key in _KEPT:
            fitted[key] = value
        elif key not in _DROPPED:
            fitted |= _keyword(key, value)
    if _is_object(schema):
        if "properties" not in fitted and schema.get("additionalProperties") is not False:
            raise ConfigError("an object without named properties cannot be said")
        fitted = {"properties": {}, **fitted, "additionalProperties": False}
    return fitted


def _is_object(schema: JsonObject) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, Sequence) and "object" in kind)


def _keyword(key: str, value: JsonValue) -> JsonObject:
    handler = _HANDLERS.get(key)
    if handler is None:
        raise ConfigError(f"{key!r} cannot be said")
    return handler(key, value)


def _mapping(key: str, value: JsonValue) -> JsonObject:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key!r} must be an object")
    return {key: {name: _fit(inner) for name, inner in value.items()}}


def _any_of(key: str, value: JsonValue) -> JsonObject:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigError(f"{key!r} must be a list")
    return {"anyOf": [_fit(inner) for inner in value]}


def _items(key: str, value: JsonValue) -> JsonObject:
    return {key: _fit(value)}


def _additional(key: str, value: JsonValue) -> JsonObject:
    """Close an object that says it is open; a schema for unnamed values cannot be kept."""
    if not isinstance(value, bool):
        raise ConfigError(f"a schema for {key!r} cannot be said")
    return {}


def _reference(key: str, value: JsonValue) -> JsonObject:
    if not isinstance(value, str) or not _REFERENCE.fullmatch(value):
        raise ConfigError(f"only a {key!r} to a definition of the same schema can be said")
    return {key: value}


def _min_items(key: str, value: JsonValue) -> JsonObject:
    return {key: 1} if isinstance(value, int) and value >= 1 else {}


def _pattern(key: str, value: JsonValue) -> JsonObject:
    return {key: value} if isinstance(value, str) and not _BEYOND_PATTERNS.search(value) else {}


def _format(key: str, value: JsonValue) -> JsonObject:
    return {key: value} if value in _FORMATS else {}


_HANDLERS: Final[Mapping[str, Callable[[str, JsonValue], JsonObject]]] = MappingProxyType(
    {
        "properties": _mapping,
        "$defs": _mapping,
        "anyOf": _any_of,
        "oneOf": _any_of,
        "items": _items,
        "additionalProperties": _additional,
        "$ref": _reference,
        "minItems": _min_items,
        "pattern": _pattern,
        "format": _format,
    }
)


def _schemas(schema: JsonValue) -> Iterator[JsonObject]:
    """Walk through a fitted schema and all that it holds."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key in ("properties", "$defs"):
        inner = schema.get(key)
        if isinstance(inner, Mapping):
            for value in inner.values():
                yield from _schemas(value)
    variants = schema.get("anyOf")
    for value in [schema.get("items"), *(variants if isinstance(variants, Sequence) else ())]:
        yield from _schemas(value)


def _refuse_excess(schema: JsonObject) -> None:
    optional = unions = 0
    for inner in _schemas(schema):
        properties, required = inner.get("properties"), inner.get("required")
        if isinstance(properties, Mapping):
            named = set(required) if isinstance(required, Sequence) else set()
            optional += len(properties.keys() - named)
        unions += "anyOf" in inner or isinstance(inner.get("type"), list | tuple)
    if optional > _MAX_OPTIONAL or unions > _MAX_UNIONS:
        raise ConfigError("there are too many optional properties or unions")


def _refuse_recursion(schema: JsonObject) -> None:
    definitions = schema.get("$defs")
    known = definitions if isinstance(definitions, Mapping) else {}
    graph = {name: _references(inner) for name, inner in known.items()}
    if not (_references(schema) <= graph.keys() and all(r <= graph.keys() for r in graph.values())):
        raise ConfigError("a referenced definition is missing")
    while graph:
        leaves = {name for name, references in graph.items() if not references & graph.keys()}
        if not leaves:
            raise ConfigError("a definition that refers to itself cannot be said")
        graph = {name: references for name, references in graph.items() if name not in leaves}


def _references(schema: JsonValue) -> set[str]:
    found = (inner.get("$ref") for inner in _schemas(schema))
    return {match[1] for ref in found if isinstance(ref, str) and (match := _REFERENCE.match(ref))}
