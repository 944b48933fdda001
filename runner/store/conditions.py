"""Conditions on turns that several statements share."""

from typing import Final

from sqlalchemy import ColumnElement, exists, literal_column
from sqlalchemy.orm import InstrumentedAttribute, aliased

from runner.core.states import LIVE, TurnStatus
from runner.store.clock import db_now
from runner.store.tables import TurnRow

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
