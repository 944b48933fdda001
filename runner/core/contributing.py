"""What a turn is about, and what gives it live context."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from runner.core.errors import UsageError
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject, storable_text
from runner.core.tooling import Cancellation

_KEYS = frozenset({"type", "id", "text"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The thing that a turn is about, as the application knows it."""

    #: What kind of thing it is: `ticket`, `order`, …
    type: str
    id: str
    #: What the model is told of it, as data.
    text: str = ""

    @classmethod
    def of(cls, value: JsonObject) -> Self:
        """
        Read a subject written as JSON: {"type": "ticket", "id": "4711", "text": "…"}.

        Raises:
            UsageError: It is none.
        """
        given = {key: item for key, item in value.items() if isinstance(item, str)}
        if len(given) < len(value) or not {"type", "id"} <= set(given) <= _KEYS:
            raise UsageError(
                'a subject has a type and an id, and perhaps a text: {"type": "ticket", "id": "7"}'
            )
        return cls(**{key: storable_text(item) for key, item in given.items()})

    def as_json(self) -> JsonObject:
        return {"type": self.type, "id": self.id, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributorContext:
    """
    What a contributor may know of the turn it serves.

    A Python function that is named as a contributor receives it.
    """

    turn_id: TurnId
    conversation_id: ConversationId
    agent: str
    #: Who the turn acts for, as the application said; never from a model.
    principal: JsonObject | None
    #: What the turn is about.
    subject: Subject | None
    #: The run's context, as the application gave it.
    context: JsonObject
    #: Set when the turn's time is up or it has been taken away.
    cancelled: Cancellation


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What a contributor gave, written as the model reads it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A contributor that failed and that its turn goes on without."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What an agent's contributors gave at one moment, in their order."""

    contributions: Sequence[Contribution] = ()
    skipped: Sequence[Skipped] = ()


class Contributors(Protocol):
    """All contributors of one agent, brought to life; they serve many threads at once."""

    def gather(self, context: ContributorContext, *, seconds: float) -> Gathered:
        """
        Ask all of them, each within its own time limit and *seconds*.

        Raises:
            ContributorFailed: One that its turn cannot go on without gave nothing.
            OutboundCancelled: The turn does not want it any more.
        """
        ...


class NoContributors:
    """Contributors of an agent that has none."""

    def gather(self, context: ContributorContext, *, seconds: float) -> Gathered:
        del context, seconds
        return Gathered()
