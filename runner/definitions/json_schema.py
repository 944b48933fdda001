"""JSON Schema, draft 2020-12: whether a schema is one, and whether a value fits it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

#: How many complaints about one value are worth reading.
MAX_COMPLAINTS: Final = 10

#: Keywords whose content is data, not schema.
DATA_KEYWORDS: Final = frozenset({"const", "default", "enum", "examples"})

#: Keywords whose content is schemas by names that are not keywords.
NAMING_KEYWORDS: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

#: Keywords that say where else in the schema to look.
REFERENCE_KEYWORDS: Final = frozenset({"$ref", "$dynamicRef"})

_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_LONGEST: Final = 200
_BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "greater than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "a list of at least {} items",
    "maxItems": "a list of at most {} items",
    "minProperties": "an object with at least {} keys",
    "maxProperties": "an object with at most {} keys",
    "pattern": "text that matches {!r}",
    "format": "text in the format {!r}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaComplaint:
    """What is wrong with a schema, and the keys and indexes that lead to it."""

    path: tuple[str | int, ...]
    message: str


class Validator:
    """Tells what in a value does not fit a schema, in sentences that never quote the value."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._validator = Draft202012Validator(schema, registry=Registry())

    def complaints(self, value: object) -> tuple[str, ...]:
        """One sentence for each thing that does not fit; none when the value does."""
        try:
            errors = list(islice(self._validator.iter_errors(value), MAX_COMPLAINTS))
        except Unresolvable:
            return ("the schema refers to a part that does not exist",)
        except RecursionError:
            return ("the value is nested too deeply to be checked",)
        return tuple(_sentence(error) for error in errors)


def check_schema(schema: Mapping[str, JsonValue]) -> tuple[SchemaComplaint, ...]:
    """Tell what is wrong with a schema; references must lead to places within it."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return (SchemaComplaint(path=tuple(error.absolute_path), message=_flaw(error)),)
    except RecursionError:
        return (SchemaComplaint(path=(), message="nested too deeply"),)
    broken = tuple(_broken_references(schema))
    return broken or _endless(schema)


def _broken_references(schema: Mapping[str, JsonValue]) -> Iterator[SchemaComplaint]:
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver("")
    for path, reference in _references(schema, ()):
        if not reference.startswith("#"):
            yield SchemaComplaint(
                path=path, message="a reference must stay within the schema: start it with '#'"
            )
            continue
        try:
            resolver.lookup(reference)
        except Unresolvable:
            yield SchemaComplaint(
                path=path, message=f"nothing in the schema is at {_short(reference)!r}"
            )


def _references(
    value: JsonValue | Mapping[str, JsonValue], path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, (*path, index))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _references_at(key, item, (*path, key))


def _references_at(
    key: str, value: JsonValue, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if key in REFERENCE_KEYWORDS and isinstance(value, str):
        yield path, value
    elif key in NAMING_KEYWORDS and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _references(inner, (*path, name))
    elif key not in DATA_KEYWORDS:
        yield from _references(value, path)


def _endless(schema: Mapping[str, JsonValue]) -> tuple[SchemaComplaint, ...]:
    try:
        for _ in Draft202012Validator(schema, registry=Registry()).iter_errors({}):
            pass
    except RecursionError:
        return (SchemaComplaint(path=(), message="a reference leads back to itself"),)
    return ()


def _flaw(error: SchemaError) -> str:
    if error.absolute_path and error.absolute_path[-1] == "type":
        return f"expected a type: {', '.join(_TYPES)}"
    return f"expected {_requirement(error.validator, error.validator_value, error.instance)}"


def _sentence(error: ValidationError) -> str:
    path = ""
    for item in error.absolute_path:
        path += f"[{item}]" if isinstance(item, int) else f".{item}" if path else item
    where = repr(_short(path)) if path else "the value"
    if error.validator == "required" and isinstance(error.validator_value, list):
        missing = [key for key in error.validator_value if key not in _keys(error)]
        return f"{where} lacks {_names(missing)}"
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        return f"{where} has unexpected {_names([key for key in _keys(error) if key not in known])}"
    return f"{where} must be {_requirement(error.validator, error.validator_value, error.instance)}"


def _keys(error: ValidationError) -> list[str]:
    return list(error.instance) if isinstance(error.instance, Mapping) else []


def _requirement(keyword: object, expected: object, instance: object) -> str:
    """What was expected, in words that follow `must be`."""
    match keyword, expected:
        case "type", str() | list():
            kinds = [expected] if isinstance(expected, str) else expected
            return f"of type {' or '.join(kinds)}, not {_type_of(instance)}"
        case "enum", list():
            return f"one of {_short(', '.join(json.dumps(value) for value in expected))}"
        case "const", _:
            return _short(json.dumps(expected))
        case str(), _ if keyword in _BOUNDS:
            return _BOUNDS[keyword].format(
                _short(expected) if isinstance(expected, str) else expected
            )
    return f"what {keyword!r} in the schema allows"


def _type_of(value: object) -> str:
    types = (kind for kind in _TYPES if Draft202012Validator.TYPE_CHECKER.is_type(value, kind))
    return next(types, type(value).__name__)


def _names(names: list[str]) -> str:
    return _short(", ".join(repr(_short(name)) for name in names))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
