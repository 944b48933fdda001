"""The one statement by which a step changes its turn."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Update,
    bindparam,
    case,
    false,
    literal_column,
    null,
    update,
)

from runner.core.jsonvalue import storable_text
from runner.core.records import ExecutionMove, StepWrite, ToolExecution, Turn
from runner.core.states import ExecutionStatus, TurnStatus, ensure_move
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import Columns, error_to_json, to_json_or_null, usage_to_json
from runner.store.conditions import as_status, has_status
from runner.store.ending import ENDED, ENDING
from runner.store.reserving import Reserving
from runner.store.tables import TurnRow

_ADVANCE: Final = (
    update(TurnRow)
    .where(
        TurnRow.id == bindparam("turn_id"),
        TurnRow.fence == bindparam("claim_fence"),
        has_status(TurnRow.status, TurnStatus.RUNNING),
        TurnRow.step == bindparam("step_before"),
    )
    .returning(
        *ENDING,
        TurnRow.status,
        TurnRow.pause_requested,
        TurnRow.cancel_requested,
        TurnRow.open_inputs,
        TurnRow.open_approvals,
    )
)
_GIVEN_UP: Final[Mapping[str, object]] = {"worker_id": None, "lease_expires_at": None}


class TurnWrite:
    """
    The statement and its parameters, made ready before the transaction begins.

    Fence, status and step are part of its condition, and so is whatever else must still be so:
    that a turn which ends leaves no input behind, and that there is room for what a root reserves.
    """

    def __init__(self, write: StepWrite, reserving: Reserving) -> None:
        turn, claim = write.turn, write.claim
        self.key = {
            "turn_id": claim.turn_id,
            "claim_fence": claim.fence,
            "step_before": turn.step - 1,
        }
        self._waits = turn.status is TurnStatus.WAITING
        self._parameters = self.key | _columns(turn)
        statement = _ADVANCE.values(_standing(write))
        if write.inputs:
            statement = statement.values(open_inputs=TurnRow.open_inputs - len(write.inputs))
        if write.withdraws:
            statement = statement.values(open_approvals=literal_column("0"))
        elif write.approvals:
            asked = len(write.approvals)
            statement = statement.values(open_approvals=TurnRow.open_approvals + asked)
        if turn.status.is_ended:
            statement = statement.where(TurnRow.open_inputs == len(write.inputs))
        if turn.place.root_id == claim.turn_id:
            statement = statement.where(*reserving.conditions).values(reserving.values)
        self.statement: Update = statement

    def parameters(self, joined: int) -> Columns:
        """Return the parameters, given how many open waits the step adds."""
        return self._parameters | {"joined": joined} if self._waits else self._parameters


def _columns(turn: Turn) -> Columns:
    """Return what steps change of a turn; what it was added with is not written again."""
    return {
        "phase": turn.phase,
        "step": turn.step,
        "claims": turn.claims,
        "iterations": turn.iterations,
        "tool_executions": turn.tool_executions,
        "attempts": turn.attempts,
        "is_inline": turn.is_inline,
        "usage": usage_to_json(turn.usage),
        "cost": turn.cost.usd,
        "unpriced_requests": turn.cost.unpriced_requests,
        "result": None if turn.result is None else storable_text(turn.result),
        "output_data": to_json_or_null(turn.output_data),
        "error": error_to_json(turn.error),
    }


def _standing(write: StepWrite) -> Mapping[str, object]:
    """Return the status, and what ends with the claim where the step gives it up."""
    status = write.turn.status
    if status is TurnStatus.RUNNING:
        return {"status": status}
    ensure_move(TurnStatus.RUNNING, status)
    match status:
        case TurnStatus.WAITING:
            return {**_GIVEN_UP, **_waiting(write)}
        case TurnStatus.PENDING:
            return {**_GIVEN_UP, **_handed_back(write)}
        case TurnStatus.PAUSED:
            return {"status": status, "pause_requested": false(), **_GIVEN_UP}
        case _ if status.is_ended:
            return {"status": status, **ENDED}
        case _:
            return {"status": status, **_GIVEN_UP}


def _waiting(write: StepWrite) -> Columns:
    """Wait, unless a pause was asked for, or what is waited for has come meanwhile."""
    open_waits = TurnRow.open_waits + bindparam("joined")
    is_ready = open_waits <= 0
    asked = write.turn.open_approvals
    if asked:
        is_answered = TurnRow.open_approvals + len(write.approvals) < asked
        is_told = TurnRow.open_inputs > 0 if _waits_for_people_alone(write) else is_ready
        is_ready = is_answered | is_told
    return {
        "open_waits": open_waits,
        "status": case(
            (TurnRow.pause_requested, as_status(TurnStatus.PAUSED)),
            (is_ready, as_status(TurnStatus.PENDING)),
            else_=as_status(TurnStatus.WAITING),
        ),
        "due_at": case((is_ready & ~TurnRow.pause_requested, db_now()), else_=null()),
        "pause_requested": false(),
    }


def _waits_for_people_alone(write: StepWrite) -> bool:
    """Say that no other turn is waited for, as far as the writer knows."""
    working: list[ToolExecution | ExecutionMove] = [*write.planned, *write.moves]
    awaits = any(execution.status is ExecutionStatus.WAITING for execution in working)
    return not awaits and not write.turn.open_waits


def _handed_back(write: StepWrite) -> Columns:
    """Be pending, now or after a delay, unless a pause was asked for."""
    not_before = None if write.delay is None else db_now_plus(write.delay)
    due_at = db_now() if not_before is None else _within_deadline(not_before)
    return {
        "status": case(
            (TurnRow.pause_requested, as_status(TurnStatus.PAUSED)),
            else_=as_status(TurnStatus.PENDING),
        ),
        "not_before": not_before,
        "due_at": case((TurnRow.pause_requested, null()), else_=due_at),
        "pause_requested": false(),
    }


def _within_deadline(instant: ColumnElement[datetime]) -> ColumnElement[datetime]:
    """Bring *instant* forward to the turn's deadline: whoever claims it then makes it fail."""
    return case((TurnRow.deadline_at < instant, TurnRow.deadline_at), else_=instant)
