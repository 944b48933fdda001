"""Agents as they are written."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Tag

from runner.definitions.base import Items, StrictModel
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
from runner.definitions.tool import KIND_KEYS, BuiltinTool, PythonTool
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
    | Annotated[BuiltinTool, Tag(tag("builtin"))],
    by_key(
        *KIND_KEYS, expected="the name of a tool, or a tool with one of the keys python, builtin"
    ),
]


class Limits(StrictModel):
    """The most a turn may use; what is left out is inherited."""

    max_iterations: Count | None = None
    timeout: Duration | None = None
    max_tool_executions: Count | None = None
    max_tool_executions_by_name: dict[ToolName, Count] | None = None


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
    limits: Limits | None = None
    thinking: Thinking | None = None
    #: What a run's input must be.
    input_schema: SchemaSource | None = None
    #: What a run's result must be.
    output_schema: SchemaSource | None = None
    prompt: PromptSettings | None = None
    #: Text that replaces the generated system prompt.
    system_prompt: Prose | None = None
