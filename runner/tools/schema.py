"""What a model is told of a function: the JSON Schema of its arguments, and its docstring."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType

from docstring_parser import ParseError, google
from pydantic import JsonValue, PydanticUserError, TypeAdapter
from pydantic_core import PydanticSerializationError

from runner.core.errors import ConfigError
from runner.tools.signature import Parameter, Signature, first_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says to a model."""

    #: Its first paragraph, on one line; empty when there is none.
    summary: str
    #: Descriptions of parameters by name.
    parameters: Mapping[str, str]


def read_docstring(function: FunctionType) -> Docstring:
    """
    Read a docstring in Google's style.

    Raises:
        ConfigError: Its sections cannot be told apart.
    """
    text = inspect.getdoc(function) or ""
    try:
        parsed = google.parse(text)
    except ParseError as error:
        raise ConfigError(f"its docstring cannot be read: {first_line(error)}") from error
    return Docstring(
        summary=" ".join(text.partition("\n\n")[0].split()),
        parameters={
            each.arg_name: " ".join(each.description.split())
            for each in parsed.params
            if each.description
        },
    )


def schema_of(signature: Signature, descriptions: Mapping[str, str]) -> dict[str, JsonValue]:
    """
    Write the JSON Schema of a function's arguments.

    Args:
        signature: The function's parameters.
        descriptions: What the docstring says of them, by name.

    Raises:
        ConfigError: A type has no schema.
    """
    try:
        schemas, shared = TypeAdapter.json_schemas(
            [(each.name, "validation", each.adapter) for each in signature.parameters]
        )
    except PydanticUserError as error:
        raise ConfigError(f"a type has no JSON Schema: {first_line(error)}") from error
    properties: dict[str, JsonValue] = {}
    for parameter in signature.parameters:
        described = descriptions.get(parameter.name)
        properties[parameter.name] = {
            **({"description": described} if described else {}),
            **schemas[parameter.name, "validation"],
            **_default(parameter),
        }
    required: list[JsonValue] = [each.name for each in signature.parameters if each.is_required]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
        **shared,
    }


def _default(parameter: Parameter) -> dict[str, JsonValue]:
    """Return the default as the schema shows it; one that JSON cannot carry is not shown."""
    if parameter.is_required:
        return {}
    try:
        text = parameter.adapter.dump_json(parameter.default, warnings=False)
    except PydanticSerializationError:
        return {}
    return {"default": json.loads(text)}
