"""What a tool is to the engine, and what a running tool is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from runner.core.authorization import Action
from runner.core.ids import ConversationId, ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec


class Cancellation(Protocol):
    """A flag that says a call is no longer wanted, and tells those who asked."""

    def is_set(self) -> bool: ...

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """
        Call *callback* once when the flag is set, at once if it is already.

        The callback comes from another thread. Returns what ends the subscription.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """
    What a tool may know of the call it serves.

    A parameter annotated with this class receives it and is not shown to the model.
    """

    turn_id: TurnId
    conversation_id: ConversationId
    execution_id: ExecutionId
    agent: str
    #: The same whenever this call is run again; hand it to whatever has the effect.
    idempotency_key: str
    #: Who the turn acts for, as the application said; never from a model.
    principal: JsonObject | None
    #: The run's context, as the application gave it.
    context: JsonObject
    #: Set when the call's time is up or its turn has been taken away.
    cancelled: Cancellation
    _notes: list[str] = field(default_factory=list)

    def append_message(self, text: str) -> None:
        """
        Add a message for the model, after the results of this response's calls.

        It is stored together with this call's result, or not at all when the claim is lost. Like
        the result it loses its middle when it is longer than the tool's `max_result_chars`.
        """
        # It stays in the conversation, where anything but text would make every request fail.
        self._notes.append(str(text))

    @property
    def appended(self) -> tuple[str, ...]:
        return tuple(self._notes)


class Recovery(StrEnum):
    """What may be done with a call whose process died while it ran."""

    UNKNOWN = "unknown"  #: Its effect may have happened, so it is never run again.
    REPLAY_SAFE = "replay_safe"  #: Running it again with the same key does no harm.


class Carrier(StrEnum):
    """Who carries a tool's calls out."""

    FUNCTION = "function"  #: The tool itself, in the worker that holds the turn.
    SUB_AGENT = "sub_agent"  #: A child turn, while the turn waits and holds no worker.
    JOIN = "join"  #: Turns that are there already, while the turn waits and holds no worker.


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """How the engine treats a tool's calls."""

    carrier: Carrier = Carrier.FUNCTION
    #: What policies see in a call that is carried out by a function.
    action: Action = Action.TOOL
    recovery: Recovery = Recovery.UNKNOWN
    #: Success ends the turn.
    terminal: bool = False
    #: The turn's result text after success, over the result's keys; None shows the result itself.
    terminal_message: str | None = None
    #: Seconds one call may take; None leaves only the turn's own deadline.
    timeout: float | None = None
    #: Longer results lose their middle.
    max_result_chars: int = 50_000


class Tool(Protocol):
    """A tool brought to life."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def rules(self) -> ToolRules: ...

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        """Say what is wrong with *arguments*, in sentences for the model; nothing when valid."""
        ...

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        """
        Run one call and return what it returned, whatever that is.

        Raises:
            BaseException: Whatever the tool raised.
        """
        ...
