"""The states of turns and tool executions, and the moves between them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from runner.core.errors import InvalidMove


class TurnStatus(StrEnum):
    """
    Where a turn stands.

        prepared ─submit─▶ pending ─claim─▶ running ─▶ completed | failed | cancelled
                             ▲   ▲            │  │
                             │   └── waiting ◀┘  └▶ paused
                             └──────────────────────┘
    """

    PREPARED = "prepared"  #: Stored and shown, not submitted.
    PENDING = "pending"  #: Ready, or due later, until a worker claims it.
    RUNNING = "running"  #: Claimed; exactly one execution may write to it.
    WAITING = "waiting"  #: Holds no worker until what it waits for has ended.
    PAUSED = "paused"  #: Stopped by a person; only resume continues it.
    COMPLETED = "completed"  #: Ended with a result.
    FAILED = "failed"  #: Ended with an error.
    CANCELLED = "cancelled"  #: Ended on request.

    @property
    def is_ended(self) -> bool:
        return not _MOVES[self]

    def can_become(self, status: "TurnStatus") -> bool:
        return status in _MOVES[self]


_MOVES: Final[Mapping[TurnStatus, frozenset[TurnStatus]]] = {
    TurnStatus.PREPARED: frozenset({TurnStatus.PENDING, TurnStatus.RUNNING, TurnStatus.CANCELLED}),
    TurnStatus.PENDING: frozenset(
        {TurnStatus.RUNNING, TurnStatus.PAUSED, TurnStatus.FAILED, TurnStatus.CANCELLED}
    ),
    TurnStatus.RUNNING: frozenset(
        {
            TurnStatus.PENDING,
            TurnStatus.WAITING,
            TurnStatus.PAUSED,
            TurnStatus.COMPLETED,
            TurnStatus.FAILED,
            TurnStatus.CANCELLED,
        }
    ),
    TurnStatus.WAITING: frozenset(
        {TurnStatus.PENDING, TurnStatus.PAUSED, TurnStatus.FAILED, TurnStatus.CANCELLED}
    ),
    TurnStatus.PAUSED: frozenset({TurnStatus.PENDING, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    TurnStatus.COMPLETED: frozenset(),
    TurnStatus.FAILED: frozenset(),
    TurnStatus.CANCELLED: frozenset(),
}

#: Submitted and not ended: what keeps a later turn of the same conversation from starting.
LIVE: Final = (TurnStatus.PENDING, TurnStatus.RUNNING, TurnStatus.WAITING, TurnStatus.PAUSED)


class Phase(StrEnum):
    """What a turn is busy with."""

    MODEL = "model"  #: The model is to be asked.
    TOOLS = "tools"  #: Tool calls are to be run.
    OUTPUT = "output"  #: An answer is to be checked.


class ExecutionStatus(StrEnum):
    """
    Where one tool execution stands.

        planned ─▶ running ─▶ completed | failed | timed_out | interrupted
           └────────────────▶ refused | skipped | completed | failed | timed_out

    A replay-safe tool goes from planned to its end without being marked running.
    """

    PLANNED = "planned"  #: Asked for; nothing of it has happened.
    RUNNING = "running"  #: Its effect may have begun.
    COMPLETED = "completed"  #: It returned.
    FAILED = "failed"  #: It raised.
    TIMED_OUT = "timed_out"  #: It ran past its limit; it may still have had its effect.
    INTERRUPTED = "interrupted"  #: Its process died; the outcome is unknown.
    REFUSED = "refused"  #: Not made: unknown tool, invalid arguments, or over a limit.
    SKIPPED = "skipped"  #: Not made: the turn ended or was redirected before its place came.

    @property
    def is_ended(self) -> bool:
        return self not in {ExecutionStatus.PLANNED, ExecutionStatus.RUNNING}


def ensure_move(current: TurnStatus, to: TurnStatus) -> None:
    """Raise InvalidMove unless a turn may go from *current* to *to*."""
    if not current.can_become(to):
        raise InvalidMove(f"a {current} turn cannot become {to}")
