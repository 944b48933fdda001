"""Agents as they are written."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Tag

from runner.definitions.base import Items, StrictModel
from runner.definitions.context import ContextEntry
from runner.definitions.scalars import (
    Count,
    Duration,
    JsonObject,
    ModelReference,
    Name,
    Prose,
    RelativePath,
    ToolName,
)
from runner.definitions.thinking import Thinking
from runner.definitions.tool import KIND_KEYS, AnyBuiltinTool, PythonTool
from runner.definitions.variants import MAPPING, TEXT, by_key, by_shape, tag

PromptMode: TypeAlias = Literal["full", "minimal", "task", "none"]

#: JSON Schema, written here or in a file.
SchemaSource: TypeAlias = Annotated[
    Annotated[JsonObject, Tag(MAPPING)] | Annotated[RelativePath, Tag(TEXT)],
    by_shape("a JSON Schema or the path of a file with one"),
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

#: An agent by its name, or written here.
SubAgentEntry: TypeAlias = Annotated[
    Annotated[Name, Tag(TEXT)] | Annotated["AgentDefinition", Tag(MAPPING)],
    by_shape("the name of an agent, or an agent"),
]


class Limits(StrictModel):
    """The most a turn, with all turns below it, may use; what is left out is inherited."""

    max_iterations: Count | None = None
    timeout: Duration | None = None
    max_tool_executions: Count | None = None
    max_tool_executions_by_name: dict[ToolName, Count] | None = None
    #: Levels of turns below it.
    max_depth: Count | None = None
    #: Turns below it, on all levels together.
    max_children: Count | None = None
    #: Sub-agents that one answer of the model may start at once.
    max_fan_out: Count | None = None


class PromptSettings(StrictModel):
    """How the generated system prompt is made."""

    mode: PromptMode


class AgentDefinition(StrictModel):
    """One agent."""

    kind: Literal["agent"] = "agent"
    name: Name
    #: What it is for, in a sentence.
    description: Prose = ""
    model: ModelReference | None = None
    instructions: Prose | None = None
    #: A file with the instructions, in place of `instructions`.
    instructions_file: RelativePath | None = None
    tools: Items[ToolEntry] = ()
    #: Agents that it may give tasks to, each as a tool named like the agent.
    sub_agents: Items[SubAgentEntry] = ()
    #: What tells it of the present, besides the config's `context`; `[]` is nothing at all.
    context: Items[ContextEntry] | None = None
    #: Whether it has what the config gives to every agent.
    inherit: bool = True
    limits: Limits | None = None
    thinking: Thinking | None = None
    #: What a run's input must be.
    input_schema: SchemaSource | None = None
    #: What a run's result must be.
    output_schema: SchemaSource | None = None
    prompt: PromptSettings | None = None
    #: Text that replaces the generated system prompt.
    system_prompt: Prose | None = None
