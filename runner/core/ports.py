"""The seams of the engine: what it is handed and does not choose itself."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from runner.core.approvals import Approval
from runner.core.authorization import Attempt, Lineage, Verdict
from runner.core.coordination import Input, Outcome
from runner.core.cost import Cost
from runner.core.ids import ApprovalId, ConversationId, TurnId, WorkerId
from runner.core.messages import Message
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest
from runner.core.records import (
    Claim,
    ClaimedTurn,
    Committed,
    Conversation,
    Event,
    NewEvent,
    NewTurn,
    StepWrite,
    ToolExecution,
    Turn,
)
from runner.core.states import TurnStatus
from runner.core.tooling import Cancellation


class ModelClient(Protocol):
    """A provider of models. One client serves many threads at once."""

    @property
    def max_attempts(self) -> int:
        """How often one request may be tried in all, by whoever retries."""
        ...

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        """
        Make one attempt at *request* and return the whole answer.

        Raises:
            ModelUnavailable: It may work later.
            ModelTransport: The answer did not arrive whole.
            ModelRejected: It will not work.
            PromptTooLong: The request does not fit.
            ModelAccessDenied: The key is at fault.
            CallCancelled: *cancelled* was set; the request was aborted.
        """
        ...

    def render(self, request: ModelRequest) -> RenderedRequest:
        """Return the body that `complete` would send, without sending it."""
        ...


class Authority(Protocol):
    """Says what the policies in force allow."""

    def decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        """
        Say what becomes of *attempt*, made by or on a turn of this lineage.

        It never raises: what cannot be decided is denied.
        """
        ...


class Intake(Protocol):
    """How turns come into the store."""

    def save_definition(self, *, content_hash: str, kind: str, name: str, body: str) -> None:
        """Keep a definition snapshot; the same hash is stored once."""
        ...

    def definition(self, content_hash: str) -> str:
        """
        Return a snapshot's body.

        Raises:
            NotFound: No snapshot has this hash.
        """
        ...

    def has_policies(self) -> bool:
        """Tell whether any stored snapshot is of an agent with policies."""
        ...

    def add(self, new: NewTurn) -> Turn:
        """
        Store a turn, its trigger and, when new, its conversation.

        A turn added as running is claimed under fence 1, and its trigger has its place already.
        A turn with a parent takes one child and one iteration at its root, and its deadline is not
        past its parent's; adding one whose id is stored already returns what is stored and takes
        nothing. A turn that awaits turns which have not all ended begins as waiting.

        Raises:
            NotFound: The conversation, the parent or an awaited turn does not exist.
            ConversationBusy: *new* is to run at once but an earlier turn has not ended.
            WaitCycle: What it awaits could not end before it does.
            LimitReached: The tree has no room for it.
        """
        ...

    def submit(self, turn_id: TurnId, *, timeout: timedelta) -> Turn:
        """
        Make a prepared turn pending, last in its conversation's lane; a submitted one stays as is.

        Raises:
            NotFound: There is no such turn.
            InvalidMove: It has ended.
        """
        ...


class Journal(Protocol):
    """How a turn is claimed and written to. Every write is fenced."""

    def claim(
        self, turn_id: TurnId, worker_id: WorkerId, *, lease: timedelta, inline: bool = False
    ) -> ClaimedTurn | None:
        """
        Claim a pending, due turn that is first in its lane, or return None.

        A turn that is to be cancelled or whose deadline has passed is due whatever else it was to
        wait for. One claimed *inline* becomes stale, not pending, when its process dies.
        """
        ...

    def transcript(self, conversation_id: ConversationId) -> Sequence[Message]:
        """Return the messages that have their place in the conversation, in order."""
        ...

    def executions(self, turn_id: TurnId) -> Sequence[ToolExecution]:
        """Return the turn's executions in call order."""
        ...

    def outcomes(self, turn_ids: Sequence[TurnId]) -> Sequence[Outcome]:
        """Return how turns ended or stand, in the order asked for; unknown ones are left out."""
        ...

    def inputs(self, turn_id: TurnId) -> Sequence[Input]:
        """Return the turn's queued inputs in order."""
        ...

    def approvals(self, turn_id: TurnId) -> Sequence[Approval]:
        """Return what was asked for the turn's calls, answered or not."""
        ...

    def commit(self, write: StepWrite, *, insist: Callable[[], bool] = lambda: False) -> Committed:
        """
        Write one step, with everything it sets going: all of it or nothing.

        A database that does not answer is tried again for as long as *insist* says so.

        A write that leaves the turn waiting stores the edges; when nothing awaited is open any
        more, or an approval was answered that the writer knows as open, or the turn waits for
        approvals alone and was given input, it is stored as pending instead. A write that ends the
        turn ends the waits for it, and each turn that waited for nothing else is pending in the
        same transaction.

        Raises:
            ClaimLost: The claim is no longer the turn's.
            LimitReached: The tree has no room for what is to be reserved.
            InputsArrived: The turn was to end, and inputs it does not take have arrived.
            WaitCycle: What the turn is to wait for could not end before it does.
            NotFound: A turn it is to wait for does not exist.
        """
        ...

    def renew(self, claims: Collection[Claim], *, lease: timedelta) -> Collection[Claim]:
        """
        Extend these claims of one worker in one statement, and return those it still has.

        Only claims that someone works on are named, so that a turn which an execution had to leave
        behind loses its lease although its process lives on.
        """
        ...


class Sweeps(Protocol):
    """How the store is repaired. Each call handles at most *limit* rows, oldest first."""

    def release_expired(self, *, limit: int) -> Sequence[TurnId]:
        """
        Move running turns whose lease is over back to pending, and return them.

        Inline turns become stale instead and are not returned: their process was somebody's.
        """
        ...

    def release_overdue(self, *, limit: int) -> Sequence[TurnId]:
        """Make started turns that wait, are paused or stale past their deadline pending."""
        ...

    def release_joined(self, *, limit: int) -> Sequence[TurnId]:
        """Make waiting turns pending of which nothing awaited is open any more."""
        ...

    def expire_approvals(self, *, limit: int) -> Sequence[TurnId]:
        """
        Answer the approvals of up to *limit* turns that nobody answered in time.

        Returns those that may be claimed now.
        """
        ...

    def fail_overdue(self, *, limit: int) -> Sequence[TurnId]:
        """
        Fail submitted turns that never started and whose deadline has passed.

        Returns the turns that may start now that those have ended.
        """
        ...

    def due(self, *, limit: int, quiet: timedelta) -> Sequence[TurnId]:
        """
        Return pending turns that may be claimed and have been so for at least *quiet*.

        A turn is due once its not-before time or its deadline has passed and it is first in its
        lane.
        """
        ...

    def unattended(self, *, limit: int) -> Sequence[tuple[TurnId, str]]:
        """Return turns that nobody is responsible for, each with what is wrong."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFilter:
    """Which turns to list; everything by default."""

    statuses: Collection[TurnStatus] = ()
    agent: str | None = None
    conversation_id: ConversationId | None = None
    #: Roots only.
    roots: bool = False
    #: Newest first.
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """Which approvals to list; by default those that wait for an answer."""

    turn_id: TurnId | None = None
    #: Answered ones too.
    answered: bool = False
    limit: int = 100


class Views(Protocol):
    """What people and programs read."""

    def turn(self, turn_id: TurnId) -> Turn:
        """
        Return one turn.

        Raises:
            NotFound: There is no such turn.
        """
        ...

    def turns(self, which: TurnFilter) -> Sequence[Turn]: ...

    def conversation(self, conversation_id: ConversationId) -> Conversation:
        """
        Return one conversation.

        Raises:
            NotFound: There is no such conversation.
        """
        ...

    def messages(
        self, conversation_id: ConversationId, *, queued: bool = True
    ) -> Sequence[Message]:
        """Return a conversation's messages, and after them the triggers of turns not started."""
        ...

    def tree(self, turn_id: TurnId) -> Sequence[Turn]:
        """
        Return a turn and everything below it, parents before children, in order of launch.

        Raises:
            NotFound: There is no such turn.
        """
        ...

    def costs(self, turn_ids: Sequence[TurnId]) -> Mapping[TurnId, Cost]:
        """Return what turns cost, each with everything below it; unknown ones are left out."""
        ...

    def latest_turn(self, conversation_id: ConversationId) -> Turn:
        """
        Return the turn of a conversation that was added last.

        Raises:
            NotFound: There is none.
        """
        ...

    def tool_executions(self, turn_id: TurnId) -> Sequence[ToolExecution]: ...

    def inputs(self, turn_id: TurnId) -> Sequence[Input]:
        """Return every input that a turn was given, in order."""
        ...

    def approval(self, approval_id: ApprovalId) -> Approval:
        """
        Return one approval.

        Raises:
            NotFound: There is no such approval.
        """
        ...

    def approvals(self, which: ApprovalFilter) -> Sequence[Approval]:
        """Return approvals: open ones that were asked first come first, answered ones last."""
        ...

    def events(self, turn_id: TurnId, *, after: int = 0, limit: int = 500) -> Sequence[Event]:
        """Return a turn's events with an id above *after*, in order."""
        ...

    def counts(self) -> dict[TurnStatus, int]:
        """Count the turns that have not ended, by status."""
        ...


class Dispatcher(Protocol):
    """Asks that turns be worked on soon. A dispatch may be lost and may repeat."""

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        """
        Send one wake-up for each turn.

        Raises:
            DispatchFailed: At least one could not be sent.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class Observer(Protocol):
    """Sees what happens in this process as it happens; whatever it raises harms no turn."""

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        """Called after the event was committed."""
        ...

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        """Called with what is being streamed; nothing of it is stored yet."""
        ...
