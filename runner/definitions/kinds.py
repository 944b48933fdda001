"""The kinds of definitions: for each its model, how it is completed, and how it is checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeAlias, TypeVar

from pydantic import TypeAdapter

from runner.definitions import agent_kind, context_kind, policy_kind, skill_kind, tool_kind
from runner.definitions.agent import AgentDefinition
from runner.definitions.context import CONTEXT_KEYS, ContextDefinition
from runner.definitions.document import Document
from runner.definitions.filling import VariableUse
from runner.definitions.policy import POLICY_KEYS, PolicyDefinition
from runner.definitions.problem import Problem
from runner.definitions.shape import Shape
from runner.definitions.skill import SkillDefinition
from runner.definitions.surroundings import Surroundings
from runner.definitions.tool import KIND_KEYS, ToolDefinition
from runner.definitions.validation import Schema, schema_of, validate

Definition: TypeAlias = (
    AgentDefinition | ToolDefinition | ContextDefinition | PolicyDefinition | SkillDefinition
)

T = TypeVar(
    "T", AgentDefinition, ToolDefinition, ContextDefinition, PolicyDefinition, SkillDefinition
)

Completed: TypeAlias = tuple[T, list[Problem], list[Path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What became of one document, before its references are checked."""

    #: The definition; where there are problems, what is right in it, or None.
    definition: Definition | None
    problems: list[Problem]
    uses: tuple[VariableUse, ...]
    #: The files that were put in.
    files: list[Path] = field(default_factory=list)
    #: Tells what in the definition refers to what is not there.
    check: Callable[[Surroundings], Iterator[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    """One kind of definition."""

    schema: Schema[T]
    complete: Callable[[T, Document], Completed[T]]
    check: Callable[[T, Document, Surroundings], Iterator[Problem]]
    #: Keys by which a document of this kind is recognised when `kind` is left out by mistake.
    marks: tuple[str, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.schema.shape

    def read(
        self, document: Document, environ: Mapping[str, str], given: Mapping[str, object]
    ) -> Reading:
        """Read a document of this kind and the files it names."""
        validated = validate(self.schema, document.node, document.source, environ, given=given)
        problems = list(validated.problems)
        if validated.value is None:
            return Reading(
                definition=None, problems=problems, uses=validated.uses, check=nothing_to_check
            )
        definition, found, files = self.complete(validated.value, document)
        return Reading(
            definition=definition,
            problems=problems + found,
            uses=validated.uses,
            files=files,
            check=partial(self.check, definition, document),
        )


def nothing_to_check(_: Surroundings) -> Iterator[Problem]:
    """Check a definition of which nothing could be read."""
    return iter(())


def _complete_tool(tool: ToolDefinition, document: Document) -> Completed[ToolDefinition]:
    completed, problems = tool_kind.complete(tool, document)
    return completed, problems, []


def _complete_context(
    context: ContextDefinition, document: Document
) -> Completed[ContextDefinition]:
    completed, problems = context_kind.complete(context, document)
    return completed, problems, []


def _complete_policy(policy: PolicyDefinition, document: Document) -> Completed[PolicyDefinition]:
    return policy_kind.complete(policy, document), [], []


_TOOL_SCHEMA: Final[Schema[ToolDefinition]] = Schema(
    TypeAdapter(ToolDefinition), Shape(ToolDefinition)
)
_CONTEXT_SCHEMA: Final[Schema[ContextDefinition]] = Schema(
    TypeAdapter(ContextDefinition), Shape(ContextDefinition)
)

_POLICY_SCHEMA: Final[Schema[PolicyDefinition]] = Schema(
    TypeAdapter(PolicyDefinition), Shape(PolicyDefinition)
)

#: The kind of a document that names none.
DEFAULT: Final = "agent"

AnyKind: TypeAlias = (
    Kind[AgentDefinition]
    | Kind[ToolDefinition]
    | Kind[ContextDefinition]
    | Kind[PolicyDefinition]
    | Kind[SkillDefinition]
)

KINDS: Final[Mapping[str, AnyKind]] = {
    "agent": Kind(
        schema=schema_of(AgentDefinition), complete=agent_kind.complete, check=agent_kind.check
    ),
    "tool": Kind(
        schema=_TOOL_SCHEMA,
        complete=_complete_tool,
        check=tool_kind.check,
        marks=KIND_KEYS,
    ),
    "context": Kind(
        schema=_CONTEXT_SCHEMA,
        complete=_complete_context,
        check=context_kind.check,
        # A tool has a key python too.
        marks=tuple(key for key in CONTEXT_KEYS if key != "python"),
    ),
    "policy": Kind(
        schema=_POLICY_SCHEMA,
        complete=_complete_policy,
        check=policy_kind.check,
        marks=POLICY_KEYS[:1],
    ),
    "skill": Kind(
        schema=schema_of(SkillDefinition),
        complete=skill_kind.complete,
        check=skill_kind.check,
        marks=("content", "content_file"),
    ),
}
