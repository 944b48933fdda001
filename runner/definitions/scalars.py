"""The scalar types of definitions and config: names, durations, counts, prose and schemas."""

import re
from datetime import timedelta
from typing import Annotated, Final, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from runner.definitions.codes import Code

NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,63}$"
QUEUE_PATTERN: Final = r"^[a-z][a-z0-9_-]{0,63}$"
TOOL_NAME_PATTERN: Final = r"^[a-zA-Z0-9_-]{1,64}$"
DURATION_PATTERN: Final = r"^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
MODEL_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,63}(/[^\s/]\S*)?$"

FUNCTION_PATTERN: Final = (
    r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"
)
ADDRESS_PATTERN: Final = r"^https?://[^@\s]+$"
NO_SPACES_PATTERN: Final = r"^\S+$"
MODULES_PATTERN: Final = r"^[A-Za-z0-9_./-]+$"
AGENT_GLOB_PATTERN: Final = r"^[a-z0-9_*-]{1,64}$"
TOOL_GLOB_PATTERN: Final = r"^[a-zA-Z0-9_*-]{1,64}$"
HEADER_PATTERN: Final = r"^[A-Za-z0-9-]+$"
VARIABLE_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_]{0,99}$"

#: What each pattern asks for, in words, and the problem a text that does not match it is.
PATTERNS: Final = {
    NAME_PATTERN: (
        Code.BAD_NAME,
        "a name of at most 64 of the characters a-z, 0-9, _ and -, starting with a-z or 0-9",
    ),
    QUEUE_PATTERN: (
        Code.BAD_NAME,
        "a queue's name of at most 64 of the characters a-z, 0-9, _ and -, starting with a-z",
    ),
    TOOL_NAME_PATTERN: (
        Code.BAD_NAME,
        "a tool's name of at most 64 of the characters a-z, A-Z, 0-9, _ and -",
    ),
    MODEL_PATTERN: (Code.BAD_VALUE, "a model's alias, or client/model-id"),
    FUNCTION_PATTERN: (Code.BAD_VALUE, "a function written as module:function"),
    ADDRESS_PATTERN: (Code.BAD_URL, "an http:// or https:// address without a user"),
    NO_SPACES_PATTERN: (Code.BAD_VALUE, "text without spaces"),
    AGENT_GLOB_PATTERN: (
        Code.BAD_NAME,
        "an agent's name, in which * may stand for any characters",
    ),
    TOOL_GLOB_PATTERN: (
        Code.BAD_NAME,
        "a tool's name, in which * may stand for any characters",
    ),
    HEADER_PATTERN: (Code.BAD_NAME, "a header's name of letters, digits and -"),
    VARIABLE_PATTERN: (Code.BAD_NAME, "a name of letters, digits and _, not starting with a digit"),
    MODULES_PATTERN: (
        Code.BAD_VALUE,
        "a module, a package followed by a full stop, or a folder with a slash in its path",
    ),
}

_DURATION: Final = re.compile(
    r"(?=.)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?", re.ASCII
)
_LONGEST: Final = timedelta(days=366)
_UNITS: Final = (
    ("d", timedelta(days=1)),
    ("h", timedelta(hours=1)),
    ("m", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
    ("ms", timedelta(milliseconds=1)),
)


#: Marks prose in a JSON Schema that is being made.
PROSE_KEY: Final = "x-prose"


class ProseMark:
    """Marks a field as written for a reader: `${` in it is text."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), PROSE_KEY: True}


PROSE: Final = ProseMark()


def parse_duration(text: str) -> timedelta:
    """
    Read a duration such as `30s`, `1h30m` or `250ms`.

    Raises:
        ValueError: It is not one, or is not between 1ms and 366d.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("expected a duration such as 30s, 10m or 1h30m")
    amounts = zip(match.groups(default="0"), _UNITS, strict=True)
    total = sum((int(amount) * unit for amount, (_, unit) in amounts), timedelta())
    if not timedelta() < total <= _LONGEST:
        raise ValueError("expected a duration between 1ms and 366d")
    return total


def format_duration(duration: timedelta) -> str:
    """Write a duration as `parse_duration` reads it."""
    parts = []
    for suffix, unit in _UNITS:
        count, duration = divmod(duration, unit)
        if count:
            parts.append(f"{count}{suffix}")
    return "".join(parts)


def _duration(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    try:
        return parse_duration(value if isinstance(value, str) else "")
    except ValueError as error:
        raise PydanticCustomError("bad_duration", "{reason}", {"reason": str(error)}) from error


Name: TypeAlias = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
ToolName: TypeAlias = Annotated[str, StringConstraints(pattern=TOOL_NAME_PATTERN)]

#: An alias declared under `models:`, or a client's name, a slash, and that provider's model id.
ModelReference: TypeAlias = Annotated[str, StringConstraints(pattern=MODEL_PATTERN, max_length=265)]

#: Text for a reader, person or model.
Prose: TypeAlias = Annotated[str, PROSE]

#: A JSON object taken as it stands.
JsonObject: TypeAlias = Annotated[dict[str, JsonValue], PROSE]

#: The path of a file or folder, relative to the file that names it, inside the project.
RelativePath: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=1024)]

Duration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["30s", "1h30m"]}),
]

#: How many of something: at least one.
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
