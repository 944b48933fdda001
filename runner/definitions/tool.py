"""Tools as they are written: the keys all have in common, and one model for each kind."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from runner.definitions.base import StrictModel
from runner.definitions.parameters import as_json_schema
from runner.definitions.scalars import (
    FUNCTION_PATTERN,
    Count,
    Duration,
    JsonObject,
    Name,
    Prose,
    RelativePath,
    parse_duration,
)
from runner.definitions.variants import by_key, tag

#: The keys of which a tool has exactly one.
KIND_KEYS: Final = ("python", "builtin")

Parameters: TypeAlias = Annotated[JsonObject, AfterValidator(as_json_schema)]


class CommonToolKeys(StrictModel):
    """What every tool says about itself, whatever kind it is."""

    kind: Literal["tool"] = "tool"
    name: Name
    #: What the model reads; a Python tool without one has its docstring.
    description: Prose | None = None
    #: When to use it, for the system prompt.
    usage_hint: Prose | None = None
    #: JSON Schema of the arguments, or its short form; left out where it can be derived.
    parameters: Parameters | None = None
    #: Whether success ends the turn, or the text that then ends it, with `{key}` of the result.
    terminal: bool | Prose = False
    #: What is done with an execution that a crash interrupted.
    recovery: Literal["unknown", "replay_safe"] = "unknown"
    #: Whether it changes nothing.
    read_only: bool = False
    #: How long one execution may take.
    timeout: Duration = parse_duration("2m")
    #: How much of a result the model reads; the middle of a longer one is cut out.
    max_result_chars: Count = 40_000

    @model_validator(mode="before")
    @classmethod
    def _has_one_kind(cls, value: object) -> object:
        found = [key for key in KIND_KEYS if isinstance(value, dict) and key in value]
        if len(found) > 1:
            raise PydanticCustomError(
                "several_kinds",
                "a tool has exactly one of the keys {keys}",
                {"keys": " and ".join(found)},
            )
        return value


class PythonTool(CommonToolKeys):
    """A function of a module that the config lists."""

    python: Annotated[str, StringConstraints(pattern=FUNCTION_PATTERN)]


class BuiltinTool(CommonToolKeys):
    """A tool that comes with the program: `read_file` reads text below one folder."""

    builtin: Literal["read_file"]
    #: The folder it is confined to; the project's when left out.
    root: RelativePath | None = None
    #: The largest file it reads.
    max_bytes: Annotated[int, Field(ge=1, le=100_000_000)] = 1_000_000


#: One tool, told apart by its kind key.
ToolDefinition: TypeAlias = Annotated[
    Annotated[PythonTool, Tag(tag("python"))] | Annotated[BuiltinTool, Tag(tag("builtin"))],
    by_key(*KIND_KEYS, expected="one of the keys python, builtin"),
]
