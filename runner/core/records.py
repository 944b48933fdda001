"""Conversations, turns, executions and events, as read from and written to the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from runner.core.approvals import NewApproval
from runner.core.authorization import AgentRef, Lineage
from runner.core.cost import Cost
from runner.core.ids import (
    ConversationId,
    ExecutionId,
    InputId,
    MessageId,
    TurnId,
    WorkerId,
)
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Message
from runner.core.model import Usage
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.core.tree import Place, Reservation, TreeUse


class TurnKind(StrEnum):
    """How a turn was asked for; it chooses the prompt's mode."""

    TASK = "task"  #: One bounded task in a conversation of its own.
    CHAT = "chat"  #: One message of a conversation that goes on.


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnError:
    """Why a turn failed."""

    #: Stable, for programs: `limit`, `refused`, `truncated`, `model_rejected`, …
    code: str
    #: One sentence for people.
    message: str
    #: The provider's request id, the limit's path and amounts, and the like.
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A thread of messages that one agent answers, one turn at a time."""

    id: ConversationId
    agent: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One agent's work on one trigger message, to one outcome."""

    id: TurnId
    conversation_id: ConversationId
    agent: str
    definition_hash: str
    kind: TurnKind
    status: TurnStatus
    phase: Phase
    place: Place
    #: What the tree has used; meaningful on a root.
    use: TreeUse = field(default_factory=TreeUse)
    #: Place in the conversation's lane, from 1, in order of submission; None until submitted.
    lane: int | None = None
    #: The number every write of the current claim names.
    fence: int = 0
    #: Steps committed so far.
    step: int = 0
    #: Claims since the last committed step.
    claims: int = 0
    #: Model requests reserved, the current one included.
    iterations: int = 1
    #: Tool executions counted against the limits.
    tool_executions: int = 0
    #: The turns it was submitted to wait for, whose results are part of what it is told.
    awaits: Sequence[TurnId] = ()
    #: Awaited turns that have not ended.
    open_waits: int = 0
    #: Turns that wait for this one.
    waiters: int = 0
    #: Inputs that are not in the transcript yet.
    open_inputs: int = 0
    #: Approvals that nobody has answered.
    open_approvals: int = 0
    pause_requested: bool = False
    cancel_requested: bool = False
    #: It runs in the process that asked for it; when that dies, a person decides.
    is_inline: bool = False
    #: The conversation that is told of its end.
    callback_to: ConversationId | None = None
    #: Attempts at the current model request that failed.
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Cost = field(default_factory=Cost)
    principal: JsonObject | None = None
    context: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    #: The answer's text, or a terminal tool's message.
    result: str | None = None
    #: Structured output, or a terminal tool's result.
    output_data: JsonValue = None
    error: TurnError | None = None
    worker_id: WorkerId | None = None
    lease_expires_at: datetime | None = None
    #: Not to be claimed before this time.
    not_before: datetime | None = None
    deadline_at: datetime | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def lineage(self) -> Lineage:
        """The agents whose policies apply to it."""
        own = AgentRef(name=self.agent, definition_hash=self.definition_hash)
        return (*self.place.ancestors, own)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """Our one stored run of one tool call."""

    id: ExecutionId
    turn_id: TurnId
    call_id: str
    tool: str
    #: Place among the turn's calls, from 1; calls run and are answered in this order.
    position: int
    arguments: JsonObject
    status: ExecutionStatus
    #: The fence under which it was marked running.
    fence: int | None = None
    #: The turns that work on it.
    awaits: Sequence[TurnId] = ()
    created_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that happened to a turn, to be stored with the change it tells of."""

    #: `turn.started`, `model.responded`, `tool_call.ended`, …
    kind: str
    body: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A stored event; within one turn, ids grow in the order of commits."""

    id: int
    turn_id: TurnId
    kind: str
    body: JsonObject
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """
    A worker's right to write to a turn.

    Every new claim has a higher fence, and every write names the fence it was made under, so a
    worker that was slow, not dead, finds its writes refused.
    """

    turn_id: TurnId
    worker_id: WorkerId
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """
    A turn to be stored with its trigger message, and its conversation when that is new.

    With *status* prepared nothing runs it; pending hands it to any worker; running claims it at
    once for *worker_id*, the way an inline turn starts.
    """

    id: TurnId
    conversation_id: ConversationId
    starts_conversation: bool
    agent: str
    definition_hash: str
    kind: TurnKind
    status: TurnStatus
    trigger: Message
    #: From submission to the end of the turn, queueing included; never past its parent's end.
    timeout: timedelta
    place: Place
    #: Turns that have to end first; with any, the turn begins as waiting.
    awaits: Sequence[TurnId] = ()
    callback_to: ConversationId | None = None
    principal: JsonObject | None = None
    context: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    worker_id: WorkerId | None = None
    lease: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTurn:
    """What a claim gave: the right to write, and the turn as of then."""

    claim: Claim
    turn: Turn
    #: Seconds until the deadline by the database's clock; negative once it has passed.
    seconds_left: float

    @classmethod
    def of(cls, turn: Turn, worker_id: WorkerId, *, seconds_left: float) -> "ClaimedTurn":
        """Take *turn*, which is running for *worker_id*, as claimed under its fence."""
        claim = Claim(turn_id=turn.id, worker_id=worker_id, fence=turn.fence)
        return cls(claim=claim, turn=turn, seconds_left=seconds_left)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionMove:
    """An execution's next status."""

    id: ExecutionId
    status: ExecutionStatus
    #: The turns that work on it, once it is waiting.
    awaits: Sequence[TurnId] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWrite:
    """
    All that one step changes, committed at once or not at all.

    *turn* is the turn as it shall be, its step one higher than stored. Messages carry their seq.
    """

    claim: Claim
    turn: Turn
    messages: Sequence[Message] = ()
    planned: Sequence[ToolExecution] = ()
    moves: Sequence[ExecutionMove] = ()
    events: Sequence[NewEvent] = ()
    reserve: Reservation = field(default_factory=Reservation)
    #: Turns to create below this one, pending.
    children: Sequence[NewTurn] = ()
    #: Inputs that this step's messages hold, each with its message.
    inputs: Mapping[InputId, MessageId] = field(default_factory=dict)
    #: What people are to be asked from now on, each with its execution asking.
    approvals: Sequence[NewApproval] = ()
    #: Nobody is to answer what is still open: its calls are closed.
    withdraws: bool = False
    #: A turn in the same conversation that takes over inputs the ended turn did not.
    continuation: NewTurn | None = None
    #: When handing back: how long from now the turn is not to be claimed.
    delay: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit found and set going."""

    #: Turns to wake: the next of the lane, parents whose last child ended, children created.
    wake: Sequence[TurnId] = ()
    #: What was asked of the turn meanwhile.
    pause_requested: bool = False
    cancel_requested: bool = False
    open_inputs: int = 0
    #: Approvals of the turn that nobody has answered.
    open_approvals: int = 0
    #: For a turn that became waiting: it may go on at once.
    is_ready: bool = False
