"""Conditions of rules: what they may speak of, what they may cost, and how they are compiled."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Final, Protocol, TypeVar, cast

from runner.core.errors import BadCondition, ConditionFailed

T = TypeVar("T")

#: The names that a condition may use.
DECLARED: Final = frozenset(
    {"action", "agent", "arguments", "context", "conversation", "principal", "tool", "turn"}
)

#: What a condition may call with a value in brackets.
FUNCTIONS: Final = frozenset(
    {
        "bytes",
        "double",
        "duration",
        "dyn",
        "has",
        "int",
        "size",
        "string",
        "timestamp",
        "type",
        "uint",
    }
)
#: What a condition may call after a value and a full stop, beside loops.
METHODS: Final = frozenset(
    {
        "contains",
        "endsWith",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
        "matches",
        "size",
        "startsWith",
    }
)

MAX_LENGTH: Final = 2_000
#: How many loops may stand inside or after one another.
MAX_DEPTH: Final = 3
#: How many steps the loops of one condition may take.
BUDGET: Final = 20_000
#: How much a condition may look at.
MAX_ITEMS: Final = 20_000
MAX_CHARACTERS: Final = 256_000
MAX_NESTING: Final = 64
_MAX_INTEGER: Final = 2**63

_HOME: Final = "runner.definitions.cel_program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is in some values."""

    items: int = 0
    characters: int = 0


class Inputs:
    """What conditions look at: JSON by the declared names, made ready once for all conditions."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given
        self._ready: dict[str, tuple[object, Size]] = {}
        self._prepared: dict[frozenset[str], tuple[object, Size]] = {}

    def prepared(
        self, names: frozenset[str], prepare: Callable[[Mapping[str, object]], T]
    ) -> tuple[T, Size]:
        """
        Return the values of some names as a language takes them, and how much there is in them.

        Args:
            names: The names.
            prepare: Makes of the values what is returned; always the same function.

        Raises:
            ConditionFailed: They are too large, or hold what is not JSON.
        """
        known = self._prepared.get(names)
        if known is None:
            found = {name: self._one(name) for name in names}
            size = Size(
                items=sum(size.items for _, size in found.values()),
                characters=sum(size.characters for _, size in found.values()),
            )
            known = prepare({name: value for name, (value, _) in found.items()}), size
            self._prepared[names] = known
        return cast("tuple[T, Size]", known)

    def _one(self, name: str) -> tuple[object, Size]:
        if name not in self._ready:
            copier = _Copier()
            value = copier.copy(self._given[name], 0)
            size = Size(items=copier.items, characters=copier.characters)
            self._ready[name] = (value, size)
        return self._ready[name]


@dataclass(slots=True)
class _Copier:
    """Copies JSON values, and stops where there is too much of them."""

    items: int = field(default=0)
    characters: int = field(default=0)

    def copy(self, value: object, depth: int) -> object:
        self.items += 1
        if depth > MAX_NESTING or self.items > MAX_ITEMS:
            raise ConditionFailed("there is too much to look at")
        match value:
            case None | bool():
                return value
            case int() if -_MAX_INTEGER <= value < _MAX_INTEGER:
                return int(value)
            case float() if math.isfinite(value):
                return float(value)
            case str():
                return self._text(value)
            case Mapping():
                return {
                    self._text(str(key)): self.copy(item, depth + 1) for key, item in value.items()
                }
            case Sequence() if not isinstance(value, bytes | bytearray):
                return [self.copy(item, depth + 1) for item in value]
            case _:
                pass
        raise ConditionFailed("a value is not JSON, or a number is too large")

    def _text(self, text: str) -> str:
        self.characters += len(text)
        if self.characters > MAX_CHARACTERS:
            raise ConditionFailed("there is too much to look at")
        return str(text)


class Condition(Protocol):
    """A compiled condition."""

    def holds(self, inputs: Inputs) -> bool:
        """
        Say whether the condition holds.

        Raises:
            ConditionFailed: It cannot be told.
        """
        ...


class _Home(Protocol):
    def build(self, text: str) -> Condition: ...


@lru_cache(maxsize=4096)
def compiled(text: str) -> Condition:
    """
    Compile a condition, loading the language when it is first needed.

    Raises:
        BadCondition: It is not one.
    """
    if len(text) > MAX_LENGTH:
        raise BadCondition(f"a condition has at most {MAX_LENGTH} characters")
    return cast("_Home", import_module(_HOME)).build(text)
