"""Agents as they are written."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Tag

from runner.definitions.base import Items, StrictModel
from runner.definitions.context import ContextEntry
from runner.definitions.policy import PolicyEntry
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
from runner.definitions.skill import SkillEntry
from runner.definitions.thinking import Thinking
from runner.definitions.tool import ToolEntry
from runner.definitions.variants import MAPPING, TEXT, by_shape

PromptMode: TypeAlias = Literal["full", "minimal", "task", "none"]

#: A part of the generated system prompt.
PromptSection: TypeAlias = Literal[
    "agent",
    "instructions",
    "orchestrator",
    "behaviour",
    "tool_hints",
    "skills",
    "available_skills",
    "sub_agents",
    "task",
    "chat",
]

#: JSON Schema, written here or in a file.
SchemaSource: TypeAlias = Annotated[
    Annotated[JsonObject, Tag(MAPPING)] | Annotated[RelativePath, Tag(TEXT)],
    by_shape("a JSON Schema or the path of a file with one"),
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
    #: Messages and callbacks of turns that may lead from one conversation to the next.
    max_hops: Count | None = None


class PromptSettings(StrictModel):
    """How the generated system prompt is made; what is left out is inherited."""

    mode: PromptMode | None = None
    #: The sections it has, in this order, in place of those that the mode chooses.
    sections: Items[PromptSection] | None = None


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
    #: What its turns, and those below them, may do.
    policies: Items[PolicyEntry] = ()
    #: Skills that are always in its prompt.
    skills: Items[SkillEntry] = ()
    #: Skills that its prompt lists, to be loaded when they are needed.
    available_skills: Items[SkillEntry] = ()
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
    #: Whether it is told how to carry a large task through by itself.
    orchestrator: bool = False
