"""Policies as they are written."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from runner.definitions.base import Items, StrictModel
from runner.definitions.condition import MAX_LENGTH
from runner.definitions.scalars import (
    AGENT_GLOB_PATTERN,
    FUNCTION_PATTERN,
    TOOL_GLOB_PATTERN,
    Duration,
    Name,
    Prose,
)
from runner.definitions.variants import TEXT, by_key, tag

#: The keys of which a policy has exactly one.
POLICY_KEYS: Final = ("rules", "python")

ActionWord: TypeAlias = Literal[
    "tool",
    "launch_agent",
    "wait",
    "send_message",
    "callback",
    "cancel",
    "pause",
    "resume",
    "steer",
    "approve",
    "read_control",
    "read_messages",
    "submit",
]
EffectWord: TypeAlias = Literal["deny", "ask", "allow"]

JsonScalar: TypeAlias = str | int | float | bool

T = TypeVar("T")

_MAX_CHOICES: Final = 1_000


def _choices(value: object) -> tuple[JsonScalar, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(listed) <= _MAX_CHOICES:
        raise PydanticCustomError(
            "bad_choice", "expected between 1 and {most} values", {"most": _MAX_CHOICES}
        )
    found = [item for item in listed if isinstance(item, str | int | float)]
    if len(found) != len(listed):
        raise PydanticCustomError(
            "bad_choice", "expected text, a number, true or false, or a list of them"
        )
    return tuple(str(item) if isinstance(item, str) else item for item in found)


_SCALAR_SCHEMA: Final = {"type": ["string", "number", "boolean"]}

#: What a value may be; in text a `*` stands for any characters.
Choices: TypeAlias = Annotated[
    tuple[JsonScalar, ...],
    BeforeValidator(_choices),
    WithJsonSchema(
        {"anyOf": [_SCALAR_SCHEMA, {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1}]}
    ),
]


def _not_empty(items: tuple[T, ...]) -> tuple[T, ...]:
    if not items:
        raise PydanticCustomError(
            "empty_list", "expected at least one item; leave the key out where everything is meant"
        )
    return items


_Some: TypeAlias = Annotated[
    Items[T], AfterValidator(_not_empty), Field(json_schema_extra={"minItems": 1})
]
_Key: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_AgentGlob: TypeAlias = Annotated[str, StringConstraints(pattern=AGENT_GLOB_PATTERN)]
_ToolGlob: TypeAlias = Annotated[str, StringConstraints(pattern=TOOL_GLOB_PATTERN)]


class _Written(StrictModel):
    """Something that knows where it stands in its file."""

    _source: str = PrivateAttr(default="")

    @property
    def written_at(self) -> str:
        """Where it stands, as `file:line`; empty before its file is known."""
        return self._source

    def at(self, source: str, **changes: object) -> Self:
        """The same, with *changes*, standing there."""
        placed = self.model_copy(update=changes)
        placed._source = source  # noqa: SLF001 - its own class
        return placed


class PolicyRule(_Written):
    """One rule; it applies where all that it says is so."""

    #: What the decision and the events call it.
    name: Name | None = None
    #: What is said to an attempt: deny beats ask, ask beats allow.
    effect: EffectWord
    #: What is attempted; everything when left out, with `ask` everything but `approve`.
    actions: _Some[ActionWord] | None = None
    #: Whose turn acts or is acted on; a `*` stands for any characters.
    agents: _Some[_AgentGlob] | None = None
    #: The tool or sub-agent that is called; a `*` stands for any characters.
    tools: _Some[_ToolGlob] | None = None
    #: What the principal must be, by its keys.
    principals: dict[_Key, Choices] | None = None
    #: What the arguments must be, by their keys.
    arguments: dict[_Key, Choices] | None = None
    #: A condition in CEL over principal, agent, tool, action, arguments, turn, conversation and
    #: context.
    when: Annotated[Prose, StringConstraints(min_length=1, max_length=MAX_LENGTH)] | None = None
    #: Why, for the model or the person that is told.
    reason: Annotated[Prose, StringConstraints(max_length=1_000)] = ""
    #: How long a person has to answer what a rule with `ask` asks.
    expires: Duration | None = None


class NamedPolicy(_Written):
    """What every policy says about itself."""

    kind: Literal["policy"] = "policy"
    name: Name
    #: What it is for, in a sentence.
    description: Prose = ""

    @model_validator(mode="before")
    @classmethod
    def _has_one_kind(cls, value: object) -> object:
        found = [key for key in POLICY_KEYS if isinstance(value, Mapping) and key in value]
        if len(found) > 1:
            raise PydanticCustomError(
                "several_kinds",
                "a policy has exactly one of the keys {keys}",
                {"keys": " and ".join(found)},
            )
        return value


class RulesPolicy(NamedPolicy):
    """A policy of rules."""

    rules: Items[PolicyRule]


class PythonPolicy(NamedPolicy):
    """A policy that is a function of a module that the config lists."""

    #: It must return True; anything else denies.
    python: Annotated[str, StringConstraints(pattern=FUNCTION_PATTERN)]


#: One policy, told apart by its kind key.
PolicyDefinition: TypeAlias = Annotated[
    Annotated[RulesPolicy, Tag(tag("rules"))] | Annotated[PythonPolicy, Tag(tag("python"))],
    by_key(*POLICY_KEYS, expected="one of the keys rules, python"),
]

#: A policy by its name, or written here.
PolicyEntry: TypeAlias = Annotated[
    Annotated[Name, Tag(TEXT)]
    | Annotated[RulesPolicy, Tag(tag("rules"))]
    | Annotated[PythonPolicy, Tag(tag("python"))],
    by_key(*POLICY_KEYS, expected="the name of a policy, or a policy with the key rules or python"),
]
