"""Approvals on their way into the store, and their way out where nobody needs to answer."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, case, exists, insert, select, update
from sqlalchemy.orm import aliased

from runner.core.approvals import Answer, Approval, NewApproval
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.records import NewEvent
from runner.core.states import ExecutionStatus
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import Columns, approval_columns, event_columns
from runner.store.rows import approval_from
from runner.store.tables import ApprovalRow, ToolExecutionRow, TurnRow

_ASKER: Final = aliased(TurnRow, name="asker")
_SELECT_DEADLINE: Final = (
    select(_ASKER.deadline_at).where(_ASKER.id == bindparam("asker")).scalar_subquery()
)


def _within_deadline(instant: ColumnElement[datetime]) -> ColumnElement[datetime]:
    """Bring *instant* forward to the end of the turn's time, after which no answer helps it."""
    return case((instant > _SELECT_DEADLINE, _SELECT_DEADLINE), else_=instant)


_INSERT: Final = (
    insert(ApprovalRow)
    .values(asked_at=db_now(), expires_at=_within_deadline(db_now_plus("expires")))
    .returning(ApprovalRow.id)
)
_WITHDRAW: Final = (
    update(ApprovalRow)
    .where(
        ApprovalRow.turn_id.in_(bindparam("turns", expanding=True)),
        ApprovalRow.answered_at.is_(None),
    )
    .values(answer=Answer.WITHDRAWN, answered_at=db_now())
    .returning(ApprovalRow)
)
_EXPIRE: Final = (
    update(ApprovalRow)
    .where(
        ApprovalRow.turn_id == bindparam("turn"),
        ApprovalRow.answered_at.is_(None),
        ApprovalRow.expires_at <= db_now(),
    )
    .values(answer=Answer.EXPIRED, answered_at=db_now())
    .returning(ApprovalRow)
)


def has_open_approval() -> ColumnElement[bool]:
    """Say that somebody has still to answer for a turn, who has until the approval expires."""
    return (
        exists()
        .where(ApprovalRow.turn_id == TurnRow.id, ApprovalRow.answered_at.is_(None))
        .correlate(TurnRow)
    )


def has_unread_answer() -> ColumnElement[bool]:
    """Say that an answer has come for a turn which has not acted on it."""
    return (
        exists()
        .where(
            ApprovalRow.turn_id == TurnRow.id,
            ApprovalRow.answered_at.is_not(None),
            ToolExecutionRow.id == ApprovalRow.execution_id,
            ToolExecutionRow.status == ExecutionStatus.ASKING,
        )
        .correlate(TurnRow)
    )


def insert_approvals(connection: Connection, rows: Sequence[Columns]) -> None:
    if rows:
        connection.execute(_INSERT, rows)


def new_rows(turn_id: TurnId, approvals: Sequence[NewApproval]) -> Sequence[Columns]:
    return [approval_columns(turn_id, new) for new in approvals]


def withdraw(connection: Connection, turn_ids: Collection[TurnId]) -> Sequence[Columns]:
    """
    Let nobody answer any more for these turns, which are locked, and return what tells of it.

    Of a withdrawal and an answer at the same moment, the second finds the approval answered.
    """
    if not turn_ids:
        return []
    rows = connection.execute(_WITHDRAW, {"turns": sorted(turn_ids)}).mappings().all()
    return [answered_event(approval_from(row)) for row in rows]


def expire(connection: Connection, turn_id: TurnId) -> Sequence[Columns]:
    """
    Answer for a turn, which is locked, what nobody has in time, and return what tells of it.

    Of a sweep and a person that answer at the same moment, the second finds it answered.
    """
    rows = connection.execute(_EXPIRE, {"turn": turn_id}).mappings().all()
    return [answered_event(approval_from(row)) for row in rows]


def answered_event(approval: Approval) -> Columns:
    """Return the event that tells the turn of an answer."""
    body: JsonObject = {
        "approval_id": approval.id,
        "execution_id": approval.execution_id,
        "tool": approval.question.tool,
        "answer": None if approval.answer is None else approval.answer.value,
        "answered_by": approval.answered_by,
        "reason": approval.answer_reason,
    }
    return event_columns(approval.turn_id, NewEvent(kind="approval.answered", body=body))
