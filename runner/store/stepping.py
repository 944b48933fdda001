"""The transaction that writes one step of a claimed turn."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Update,
    bindparam,
    case,
    exists,
    insert,
    literal,
    null,
    or_,
    select,
    update,
)

from runner.core.errors import ClaimLost, InvalidMove
from runner.core.ids import ExecutionId
from runner.core.jsonvalue import storable_text
from runner.core.records import StepWrite, ToolExecution, Turn
from runner.core.states import ExecutionStatus, TurnStatus, ensure_move
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import (
    Columns,
    error_to_json,
    event_columns,
    execution_columns,
    message_columns,
    to_json_or_null,
    usage_to_json,
)
from runner.store.conditions import has_status
from runner.store.statements import insert_events, insert_messages
from runner.store.tables import ToolExecutionRow, TurnRow

_ADVANCE: Final = (
    update(TurnRow)
    .where(
        TurnRow.id == bindparam("turn_id"),
        TurnRow.fence == bindparam("claim_fence"),
        has_status(TurnRow.status, TurnStatus.RUNNING),
        TurnRow.step == bindparam("step_before"),
    )
    .returning(TurnRow.id)
)
_WROTE_STEP: Final = select(
    exists().where(
        TurnRow.id == bindparam("turn_id"),
        TurnRow.fence == bindparam("claim_fence"),
        TurnRow.step == bindparam("step_before") + 1,
    )
)
_INSERT_EXECUTIONS: Final = (
    insert(ToolExecutionRow)
    .values(
        created_at=db_now(),
        started_at=case((bindparam("is_running", type_=Boolean()), db_now()), else_=null()),
        ended_at=case((bindparam("has_ended", type_=Boolean()), db_now()), else_=null()),
    )
    .returning(ToolExecutionRow.id)
)


class Stepping:
    """
    One step, made ready before its transaction begins, which may take several attempts.

    An attempt whose connection was lost at its commit may have written the step. The next one then
    finds no row to change; if the turn is at this very step under this very fence, nobody else
    can have brought it there.
    """

    def __init__(self, write: StepWrite) -> None:
        claim = write.claim
        self._claim = claim
        self._key = {
            "turn_id": claim.turn_id,
            "claim_fence": claim.fence,
            "step_before": write.turn.step - 1,
        }
        times = _times(write)
        self._advance = _ADVANCE.values(times) if times else _ADVANCE
        self._turn = self._key | _turn_columns(write.turn)
        self._messages = [message_columns(message) for message in write.messages]
        self._planned = [_planned_columns(execution, claim.fence) for execution in write.planned]
        self._moves = len(write.moves)
        self._move = _move(write) if write.moves else None
        self._events = [event_columns(claim.turn_id, event) for event in write.events]
        self._attempted = False

    def __call__(self, connection: Connection) -> None:
        if connection.execute(self._advance, self._turn).one_or_none() is None:
            self._ensure_written(connection)
            return
        self._attempted = True
        if self._planned:
            connection.execute(_INSERT_EXECUTIONS, self._planned)
        if self._move is not None and len(connection.execute(self._move).all()) != self._moves:
            raise InvalidMove("a tool execution cannot be moved so from where it is")
        insert_messages(connection, self._messages)
        insert_events(connection, self._events)

    def _ensure_written(self, connection: Connection) -> None:
        if not self._attempted or not connection.execute(_WROTE_STEP, self._key).scalar_one():
            turn_id, fence = self._claim.turn_id, self._claim.fence
            raise ClaimLost(f"turn {turn_id!r} is no longer held under fence {fence}")


def _turn_columns(turn: Turn) -> Columns:
    """Return what steps change of a turn; what it was added with is not written again."""
    return {
        "status": turn.status,
        "phase": turn.phase,
        "step": turn.step,
        "claims": turn.claims,
        "iterations": turn.iterations,
        "tool_executions": turn.tool_executions,
        "attempts": turn.attempts,
        "usage": usage_to_json(turn.usage),
        "result": None if turn.result is None else storable_text(turn.result),
        "output_data": to_json_or_null(turn.output_data),
        "error": error_to_json(turn.error),
    }


def _times(write: StepWrite) -> Columns:
    """Return what ends with the claim, where the step gives it up."""
    status = write.turn.status
    if status is TurnStatus.RUNNING:
        return {}
    ensure_move(TurnStatus.RUNNING, status)
    given_up: Columns = {"worker_id": None, "lease_expires_at": None}
    if status.is_ended:
        return given_up | {"ended_at": db_now()}
    if status is not TurnStatus.PENDING:
        return given_up
    if write.delay is None:
        return given_up | {"due_at": db_now()}
    not_before = db_now_plus(write.delay)
    return given_up | {"not_before": not_before, "due_at": _within_deadline(not_before)}


def _within_deadline(instant: ColumnElement[datetime]) -> ColumnElement[datetime]:
    """Bring *instant* forward to the turn's deadline: whoever claims it then makes it fail."""
    return case((TurnRow.deadline_at < instant, TurnRow.deadline_at), else_=instant)


def _planned_columns(execution: ToolExecution, fence: int) -> Columns:
    is_running = execution.status is ExecutionStatus.RUNNING
    return execution_columns(execution) | {
        "fence": fence if is_running else execution.fence,
        "is_running": is_running,
        "has_ended": execution.status.is_ended,
    }


def _move(write: StepWrite) -> Update:
    """
    Move executions to their next status, if that can be reached from where they are.

    One that was marked running under this claim may be planned again: its writer knows that it
    has not begun.
    """
    row, fence = ToolExecutionRow, write.claim.fence
    planned = row.id.in_(_ids_of(write, lambda status: status is ExecutionStatus.PLANNED))
    started = row.id.in_(_ids_of(write, lambda status: status is ExecutionStatus.RUNNING))
    ended = row.id.in_(_ids_of(write, lambda status: status.is_ended))
    was_planned = row.status == ExecutionStatus.PLANNED
    was_running = row.status == ExecutionStatus.RUNNING
    return (
        update(row)
        .where(
            row.turn_id == write.claim.turn_id,
            or_(
                planned & was_running & (row.fence == fence),
                started & was_planned,
                ended & (was_planned | was_running),
            ),
        )
        .values(
            status=case(
                {move.id: literal(move.status, row.status.type) for move in write.moves},
                value=row.id,
            ),
            fence=case((started, fence), (planned, null()), else_=row.fence),
            started_at=case((started, db_now()), (planned, null()), else_=row.started_at),
            ended_at=case((ended, db_now()), else_=null()),
        )
        .returning(row.id)
    )


def _ids_of(write: StepWrite, has: Callable[[ExecutionStatus], bool]) -> list[ExecutionId]:
    return [move.id for move in write.moves if has(move.status)]
