"""Tools as they are written: the keys all have in common, and one model for each kind."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from runner.definitions.base import Items, StrictModel
from runner.definitions.parameters import as_json_schema
from runner.definitions.scalars import (
    FUNCTION_PATTERN,
    Count,
    Duration,
    JsonObject,
    Name,
    Prose,
    RelativePath,
    ToolName,
    parse_duration,
)
from runner.definitions.variants import TEXT, by_key, by_value, tag

#: The keys of which a tool has exactly one.
KIND_KEYS: Final = ("python", "builtin")

Parameters: TypeAlias = Annotated[JsonObject, AfterValidator(as_json_schema)]


class NamedTool(StrictModel):
    """What every tool says about itself, whoever carries its calls out."""

    kind: Literal["tool"] = "tool"
    name: Name
    #: What the model reads; without one, a function's docstring or the builtin's own.
    description: Prose | None = None
    #: When to use it, for the system prompt.
    usage_hint: Prose | None = None

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


class CommonToolKeys(NamedTool):
    """What a tool says whose calls are carried out where its turn runs."""

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


class PythonTool(CommonToolKeys):
    """A function of a module that the config lists."""

    python: Annotated[str, StringConstraints(pattern=FUNCTION_PATTERN)]


class BuiltinTool(CommonToolKeys):
    """A tool that comes with the program and reads text below one folder."""

    builtin: Literal["read_file"]
    #: The folder it is confined to; the project's when left out.
    root: RelativePath | None = None
    #: The largest file it reads.
    max_bytes: Annotated[int, Field(ge=1, le=100_000_000)] = 1_000_000


class LaunchAgentTool(NamedTool):
    """A tool that comes with the program and starts an agent without waiting for it."""

    builtin: Literal["launch_agent"]
    #: Agents that it may start besides the sub-agents of the agent that has it.
    agents: Items[Name] = ()


class WaitForTool(NamedTool):
    """A tool that comes with the program and waits until turns have ended."""

    builtin: Literal["wait_for"]
    #: How much of the results the model reads; the middle of longer ones is cut out.
    max_result_chars: Count = 40_000


class SendMessageTool(NamedTool):
    """A tool that comes with the program and writes to a conversation."""

    builtin: Literal["send_message"]


#: A tool by which agents work together.
CoordinationTool: TypeAlias = LaunchAgentTool | WaitForTool | SendMessageTool

#: What the name of such a tool stands for where no tool of that name is defined.
COORDINATION_TOOLS: Final[Mapping[str, CoordinationTool]] = {
    "launch_agent": LaunchAgentTool(name="launch_agent", builtin="launch_agent"),
    "wait_for": WaitForTool(name="wait_for", builtin="wait_for"),
    "send_message": SendMessageTool(name="send_message", builtin="send_message"),
}

#: A tool that comes with the program, told apart by which it is.
AnyBuiltinTool: TypeAlias = Annotated[
    Annotated[BuiltinTool, Tag(tag("read_file"))]
    | Annotated[LaunchAgentTool, Tag(tag("launch_agent"))]
    | Annotated[WaitForTool, Tag(tag("wait_for"))]
    | Annotated[SendMessageTool, Tag(tag("send_message"))],
    by_value("builtin", "read_file", *COORDINATION_TOOLS),
]

#: One tool, told apart by its kind key.
ToolDefinition: TypeAlias = Annotated[
    Annotated[PythonTool, Tag(tag("python"))] | Annotated[AnyBuiltinTool, Tag(tag("builtin"))],
    by_key(*KIND_KEYS, expected="one of the keys python, builtin"),
]

#: A tool by its name, or written here.
ToolEntry: TypeAlias = Annotated[
    Annotated[ToolName, Tag(TEXT)]
    | Annotated[PythonTool, Tag(tag("python"))]
    | Annotated[AnyBuiltinTool, Tag(tag("builtin"))],
    by_key(
        *KIND_KEYS, expected="the name of a tool, or a tool with one of the keys python, builtin"
    ),
]
