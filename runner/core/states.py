"""The states of turns and tool executions, and the moves between them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from runner.core.errors import InvalidMove


class TurnStatus(StrEnum):
    """
    Where a turn stands.

        prepared ─submit─▶ pending ─claim─▶ running ─▶ completed | failed | cancelled
                             ▲  ▲             │ │ │
                             │  └── waiting ◀─┘ │ └─▶ stale ─resume─▶ pending
                             └───── paused ◀────┘

    Whatever is submitted and has not ended can be paused and cancelled.
    """

    PREPARED = "prepared"  #: Stored and shown, not submitted.
    PENDING = "pending"  #: Ready, or due later, until a worker claims it.
    RUNNING = "running"  #: Claimed; exactly one execution may write to it.
    WAITING = "waiting"  #: Holds no worker until other turns have ended or people answered.
    PAUSED = "paused"  #: Stopped by a person; only resume continues it.
    STALE = "stale"  #: Ran inline in a process that died; a person decides with resume or cancel.
    COMPLETED = "completed"  #: Ended with a result.
    FAILED = "failed"  #: Ended with an error.
    CANCELLED = "cancelled"  #: Ended on request.

    @property
    def is_ended(self) -> bool:
        return not _MOVES[self]

    def can_become(self, status: "TurnStatus") -> bool:
        return status in _MOVES[self]


_ENDS: Final = frozenset({TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.CANCELLED})
_MOVES: Final[Mapping[TurnStatus, frozenset[TurnStatus]]] = {
    TurnStatus.PREPARED: frozenset(
        {
            TurnStatus.PENDING,
            TurnStatus.WAITING,
            TurnStatus.RUNNING,
            TurnStatus.PAUSED,
            TurnStatus.CANCELLED,
        }
    ),
    TurnStatus.PENDING: frozenset(
        {TurnStatus.RUNNING, TurnStatus.PAUSED, TurnStatus.FAILED, TurnStatus.CANCELLED}
    ),
    TurnStatus.RUNNING: _ENDS
    | {TurnStatus.PENDING, TurnStatus.WAITING, TurnStatus.PAUSED, TurnStatus.STALE},
    TurnStatus.WAITING: frozenset(
        {TurnStatus.PENDING, TurnStatus.PAUSED, TurnStatus.FAILED, TurnStatus.CANCELLED}
    ),
    TurnStatus.PAUSED: frozenset(
        {TurnStatus.PENDING, TurnStatus.WAITING, TurnStatus.FAILED, TurnStatus.CANCELLED}
    ),
    TurnStatus.STALE: frozenset({TurnStatus.PENDING, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    TurnStatus.COMPLETED: frozenset(),
    TurnStatus.FAILED: frozenset(),
    TurnStatus.CANCELLED: frozenset(),
}

#: Submitted and not ended: what keeps a later turn of the same conversation from starting.
LIVE: Final = (
    TurnStatus.PENDING,
    TurnStatus.RUNNING,
    TurnStatus.WAITING,
    TurnStatus.PAUSED,
    TurnStatus.STALE,
)


class Phase(StrEnum):
    """What a turn is busy with."""

    MODEL = "model"  #: The model is to be asked.
    TOOLS = "tools"  #: Tool calls are to be run.
    OUTPUT = "output"  #: An answer is to be checked.


class ExecutionStatus(StrEnum):
    """
    Where one tool execution stands.

        planned ─▶ ready ─▶ running ─▶ completed | failed | timed_out | interrupted
         │  ▲        │
         │  │        └─▶ completed | failed | timed_out        (replay-safe: never marked running)
         │  asking ─▶ as from planned, once a person agreed
         ├─▶ waiting ─▶ completed | failed | interrupted       (other turns work on it)
         └─▶ refused | skipped

    Ready and running executions are counted against the limits; one that was marked running and
    provably not begun goes back to ready. A planned or ready one of which a policy says *ask* is
    asking until a person has answered, and nothing of it happens meanwhile.
    """

    PLANNED = "planned"  #: Asked for; nothing of it has happened.
    ASKING = "asking"  #: A person has to approve it first.
    READY = "ready"  #: Counted, and not begun as far as it matters.
    RUNNING = "running"  #: Its effect may have begun.
    WAITING = "waiting"  #: Other turns work on it.
    COMPLETED = "completed"  #: It returned.
    FAILED = "failed"  #: It raised.
    TIMED_OUT = "timed_out"  #: It ran past its limit; it may still have had its effect.
    INTERRUPTED = "interrupted"  #: Its process died; the outcome is unknown.
    REFUSED = "refused"  #: Not made: unknown tool, invalid arguments, denied, or over a limit.
    SKIPPED = "skipped"  #: Not made: the turn ended or was redirected before its place came.

    @property
    def is_ended(self) -> bool:
        return self not in _OPEN


_OPEN: Final = frozenset(
    {
        ExecutionStatus.PLANNED,
        ExecutionStatus.ASKING,
        ExecutionStatus.READY,
        ExecutionStatus.RUNNING,
        ExecutionStatus.WAITING,
    }
)


def ensure_move(current: TurnStatus, to: TurnStatus) -> None:
    """Raise InvalidMove unless a turn may go from *current* to *to*."""
    if not current.can_become(to):
        raise InvalidMove(f"a {current} turn cannot become {to}")
