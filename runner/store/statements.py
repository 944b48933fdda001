"""Statements that intake, journal, sweeps and views share."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, ScalarSelect, bindparam, func, insert, select
from sqlalchemy.orm import aliased

from runner.core.errors import NotFound
from runner.core.ids import ConversationId, TurnId
from runner.core.records import NewEvent, Turn
from runner.store.clock import db_now
from runner.store.codec import Columns, event_columns
from runner.store.rows import turn_from
from runner.store.tables import EventRow, MessageRow, ToolExecutionRow, TurnRow

# Several rows go out as one statement only if it returns something.
INSERT_EVENTS: Final = insert(EventRow).values(at=db_now()).returning(EventRow.id)
_INSERT_MESSAGES: Final = insert(MessageRow).values(created_at=db_now()).returning(MessageRow.id)
_SELECT_TURN: Final = select(TurnRow).where(TurnRow.id == bindparam("turn_id"))
SELECT_EXECUTIONS: Final = (
    select(ToolExecutionRow)
    .where(ToolExecutionRow.turn_id == bindparam("turn"))
    .order_by(ToolExecutionRow.position)
)

_Placed: Final = aliased(MessageRow, name="placed")


def find_turn(connection: Connection, turn_id: TurnId) -> Turn | None:
    row = connection.execute(_SELECT_TURN, {"turn_id": turn_id}).mappings().one_or_none()
    return None if row is None else turn_from(row)


def get_turn(connection: Connection, turn_id: TurnId) -> Turn:
    turn = find_turn(connection, turn_id)
    if turn is None:
        raise no_turn(turn_id)
    return turn


def no_turn(turn_id: TurnId | None) -> NotFound:
    return NotFound(f"there is no turn {turn_id!r}; `runner ps` lists them")


def no_conversation(conversation_id: ConversationId) -> NotFound:
    return NotFound(f"there is no conversation {conversation_id!r}; `runner show` names a turn's")


def insert_events(connection: Connection, rows: Sequence[Columns]) -> None:
    if rows:
        connection.execute(INSERT_EVENTS, rows)


def insert_event(connection: Connection, turn_id: TurnId, event: NewEvent) -> int:
    """Store one event and return its id."""
    return connection.execute(INSERT_EVENTS, event_columns(turn_id, event)).scalar_one()


def insert_messages(connection: Connection, rows: Sequence[Columns]) -> None:
    if rows:
        connection.execute(_INSERT_MESSAGES, rows)


def next_place(conversation_id: object) -> ScalarSelect[int]:
    """Return the place after the last message of a conversation, of which one turn runs."""
    return (
        select(func.coalesce(func.max(_Placed.seq), 0) + 1)
        .where(_Placed.conversation_id == conversation_id)
        .scalar_subquery()
    )
