"""How a step moves tool executions from status to status."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Update,
    bindparam,
    case,
    func,
    insert,
    literal,
    null,
    or_,
    update,
)

from runner.core.errors import InvalidMove
from runner.core.records import Claim, ExecutionMove, ToolExecution
from runner.core.states import ExecutionStatus
from runner.store.clock import db_now
from runner.store.codec import Columns, awaits_to_json, execution_columns
from runner.store.tables import ToolExecutionRow

_OPEN: Final = tuple(status for status in ExecutionStatus if not status.is_ended)
_UNBEGUN: Final = (ExecutionStatus.PLANNED, ExecutionStatus.ASKING, ExecutionStatus.READY)
#: In these an execution is being worked on.
_BEGUN: Final = (ExecutionStatus.RUNNING, ExecutionStatus.WAITING)

#: From where each status is reached by anybody; ended ones are reached from every open one.
_SOURCES: Final[Mapping[ExecutionStatus, Sequence[ExecutionStatus]]] = {
    ExecutionStatus.ASKING: (ExecutionStatus.PLANNED, ExecutionStatus.READY),
    ExecutionStatus.READY: (ExecutionStatus.PLANNED, ExecutionStatus.ASKING),
    ExecutionStatus.RUNNING: _UNBEGUN,
    ExecutionStatus.WAITING: (*_UNBEGUN, ExecutionStatus.WAITING),
}
_INSERT: Final = (
    insert(ToolExecutionRow)
    .values(
        created_at=db_now(),
        started_at=case((bindparam("has_begun", type_=Boolean()), db_now()), else_=null()),
        ended_at=case((bindparam("has_ended", type_=Boolean()), db_now()), else_=null()),
    )
    .returning(ToolExecutionRow.id)
)


class Moves:
    """The new and the moved executions of one step, made ready before its transaction begins."""

    def __init__(
        self, claim: Claim, planned: Sequence[ToolExecution], moves: Sequence[ExecutionMove]
    ) -> None:
        self._planned = [_columns(execution, claim.fence) for execution in planned]
        self._moves = len(moves)
        self._move = _statement(claim, moves) if moves else None

    def write(self, connection: Connection) -> None:
        """
        Store and move the executions.

        Raises:
            InvalidMove: One cannot reach its status from where it is.
        """
        if self._planned:
            connection.execute(_INSERT, self._planned)
        if self._move is not None and len(connection.execute(self._move).all()) != self._moves:
            raise InvalidMove("a tool execution cannot be moved so from where it is")


def _columns(execution: ToolExecution, fence: int) -> Columns:
    is_running = execution.status is ExecutionStatus.RUNNING
    return execution_columns(execution) | {
        "fence": fence if is_running else execution.fence,
        "has_begun": execution.status in _BEGUN,
        "has_ended": execution.status.is_ended,
    }


def _statement(claim: Claim, moves: Sequence[ExecutionMove]) -> Update:
    """
    Write the one statement that moves all of them, each only if it may.

    One that was marked running under this claim may go back: its writer knows that it has not
    begun.
    """
    row = ToolExecutionRow
    back = row.id.in_([move.id for move in moves if move.status in _UNBEGUN])
    marked = row.id.in_([move.id for move in moves if move.status is ExecutionStatus.RUNNING])
    begun = row.id.in_([move.id for move in moves if move.status in _BEGUN])
    ended = row.id.in_([move.id for move in moves if move.status.is_ended])
    return (
        update(row)
        .where(
            row.turn_id == claim.turn_id,
            or_(
                back & (row.status == ExecutionStatus.RUNNING) & (row.fence == claim.fence),
                *(_may_become(status, moves) for status in sorted({move.status for move in moves})),
            ),
        )
        .values(
            status=case(
                {move.id: literal(move.status, row.status.type) for move in moves}, value=row.id
            ),
            awaits=_awaits(moves),
            fence=case((marked, claim.fence), (back, null()), else_=row.fence),
            started_at=case(
                (begun, func.coalesce(row.started_at, db_now())),
                (back, null()),
                else_=row.started_at,
            ),
            ended_at=case((ended, db_now()), else_=null()),
        )
        .returning(row.id)
    )


def _awaits(moves: Sequence[ExecutionMove]) -> ColumnElement[str | None]:
    """Say what the waiting ones wait for; it stays known once they have ended."""
    row = ToolExecutionRow
    values = {
        move.id: literal(awaits_to_json(move.awaits), row.awaits.type)
        for move in moves
        if move.status is ExecutionStatus.WAITING
    }
    return case(values, value=row.id, else_=row.awaits) if values else row.awaits.expression


def _may_become(status: ExecutionStatus, moves: Sequence[ExecutionMove]) -> ColumnElement[bool]:
    sources = _OPEN if status.is_ended else _SOURCES.get(status, ())
    ids = [move.id for move in moves if move.status is status]
    return ToolExecutionRow.id.in_(ids) & ToolExecutionRow.status.in_(sources)
