"""Conditions on turns that several statements share."""

from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Select, case, exists, literal, literal_column, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from runner.core.states import LIVE, TurnStatus
from runner.store.clock import db_now
from runner.store.tables import TurnRow

_PARENT: Final = aliased(TurnRow, name="parent_turn")
_EARLIER: Final = aliased(TurnRow, name="earlier")


def has_status(
    column: InstrumentedAttribute[TurnStatus], *statuses: TurnStatus
) -> ColumnElement[bool]:
    """
    Compare with statuses written into the statement.

    A partial index serves only a statement that can be seen to repeat its condition, which one
    with parameters cannot.
    """
    literals: list[ColumnElement[str]] = [literal_column(repr(status.value)) for status in statuses]
    return column == literals[0] if len(literals) == 1 else column.in_(literals)


def as_status(status: TurnStatus) -> ColumnElement[TurnStatus]:
    """Return *status* as a value among others that depend on the row."""
    return literal(status, TurnRow.status.type)


def first_in_lane() -> ColumnElement[bool]:
    """
    Say that no turn submitted earlier to the conversation is still live.

    Once true this stays true: lanes are given out in order under the conversation's lock.
    """
    return ~exists().where(
        _EARLIER.conversation_id == TurnRow.conversation_id,
        _EARLIER.lane < TurnRow.lane,
        has_status(_EARLIER.status, *LIVE),
    )


def is_due() -> ColumnElement[bool]:
    """Say that a turn is pending and may be claimed as far as its own times go."""
    return has_status(TurnRow.status, TurnStatus.PENDING) & (TurnRow.due_at <= db_now())


def in_order(condition: ColumnElement[bool]) -> Select[str]:
    """
    Choose turns that meet *condition*, locking each so that others wait for it.

    Those far down in their trees come first, then each by its id: transactions that lock several
    turns do so in the same order.
    """
    return (
        select(TurnRow.id)
        .where(condition)
        .order_by(TurnRow.depth.desc(), TurnRow.id)
        .with_for_update(key_share=True)
    )


def within_parent(
    parent_id: ColumnElement[str] | InstrumentedAttribute[str | None],
    deadline: ColumnElement[datetime],
) -> ColumnElement[datetime]:
    """Bring *deadline* forward to that of the parent, if there is one."""
    parents = select(_PARENT.deadline_at).where(_PARENT.id == parent_id).scalar_subquery()
    return case((parents < deadline, parents), else_=deadline)
