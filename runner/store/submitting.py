"""The transaction that submits a prepared turn."""

from datetime import timedelta

from sqlalchemy import Connection, bindparam, case, false, null, select, update

from runner.core.errors import InvalidMove
from runner.core.ids import TurnId
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.store.clock import db_now, db_now_plus
from runner.store.conditions import as_status, has_status, within_parent
from runner.store.newcomers import added
from runner.store.rows import turn_from
from runner.store.statements import insert_event, no_turn
from runner.store.tables import ConversationRow, TurnRow
from runner.store.waits import ensure_acyclic, hold_graph


class Submission:
    """
    One submission, which puts the turn behind all others of its conversation.

    Somebody may have waited for the turn before; were that one of those it is now behind, neither
    could end.
    """

    def __init__(self, turn_id: TurnId, timeout: timedelta) -> None:
        self._turn_id = turn_id
        home = select(TurnRow.conversation_id).where(TurnRow.id == turn_id).scalar_subquery()
        self._take_lane = (
            update(ConversationRow)
            .where(ConversationRow.id == home)
            .values(lanes=ConversationRow.lanes + 1)
            .returning(ConversationRow.lanes)
        )
        status = case(
            (TurnRow.pause_requested, as_status(TurnStatus.PAUSED)),
            (TurnRow.open_waits > 0, as_status(TurnStatus.WAITING)),
            else_=as_status(TurnStatus.PENDING),
        )
        is_halted = TurnRow.pause_requested | (TurnRow.open_waits > 0)
        self._submit = (
            update(TurnRow)
            .where(TurnRow.id == turn_id, has_status(TurnRow.status, TurnStatus.PREPARED))
            .values(
                status=status,
                pause_requested=false(),
                lane=bindparam("taken"),
                due_at=case((is_halted, null()), else_=db_now()),
                deadline_at=within_parent(TurnRow.parent_id, db_now_plus(timeout)),
            )
            .returning(TurnRow)
        )

    def __call__(self, connection: Connection) -> Turn:
        hold_graph(connection)
        conversation = connection.execute(self._take_lane).one_or_none()
        if conversation is None:
            raise no_turn(self._turn_id)
        taken = {"taken": conversation.lanes}
        row = connection.execute(self._submit, taken).mappings().one_or_none()
        if row is None:
            raise InvalidMove(f"turn {self._turn_id!r} is no longer prepared")
        if row["waiters"]:
            ensure_acyclic(connection, self._turn_id)
        insert_event(connection, self._turn_id, added(row))
        return turn_from(row)
