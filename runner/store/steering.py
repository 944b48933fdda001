"""How what people say to a running turn is queued for it."""

from typing import Final

from sqlalchemy import Connection, bindparam, case, func, insert, select, update

from runner.core.coordination import Input
from runner.core.errors import InvalidMove, KeyConflict
from runner.core.ids import TurnId, new_input_id
from runner.core.jsonvalue import JsonObject, storable_text
from runner.core.records import NewEvent
from runner.core.states import TurnStatus
from runner.store.clock import db_now
from runner.store.conditions import as_status, has_status
from runner.store.database import Database
from runner.store.rows import input_from
from runner.store.statements import get_turn, insert_event
from runner.store.tables import InputRow, TurnRow

#: It waits for people alone, whom it need not ask any more once it was told something new.
_GOES_ON: Final = (
    has_status(TurnRow.status, TurnStatus.WAITING)
    & (TurnRow.open_waits <= 0)
    & (TurnRow.open_approvals > 0)
)
_COUNT: Final = (
    update(TurnRow)
    .where(TurnRow.id == bindparam("steered"), TurnRow.ended_at.is_(None))
    .values(
        open_inputs=TurnRow.open_inputs + 1,
        status=case((_GOES_ON, as_status(TurnStatus.PENDING)), else_=TurnRow.status),
        due_at=case((_GOES_ON, db_now()), else_=TurnRow.due_at),
    )
    .returning(TurnRow.id)
)
_PLACE: Final = (
    select(func.coalesce(func.max(InputRow.position), 0) + 1)
    .where(InputRow.turn_id == bindparam("steered"))
    .scalar_subquery()
)
_INSERT: Final = insert(InputRow).values(position=_PLACE, created_at=db_now()).returning(InputRow)
_SELECT: Final = select(InputRow).where(
    InputRow.turn_id == bindparam("steered"), InputRow.key == bindparam("by_key")
)


def steer(database: Database, turn_id: TurnId, *, key: str, text: str) -> Input:
    """
    Queue an input behind those that are there, or return the one its key stands for.

    Raises:
        NotFound: There is no such turn.
        InvalidMove: It has ended.
        KeyConflict: The key was used for another text.
    """
    name, words = storable_text(key), storable_text(text)
    columns = {"id": new_input_id(), "turn_id": turn_id, "key": name, "text": words}

    def work(connection: Connection) -> Input | None:
        if connection.execute(_COUNT, {"steered": turn_id}).one_or_none() is None:
            return None
        row = connection.execute(_INSERT, columns | {"steered": turn_id}).mappings().one()
        stored = input_from(row)
        body: JsonObject = {"input_id": stored.id, "position": stored.position}
        insert_event(connection, turn_id, NewEvent(kind="turn.steered", body=body))
        return stored

    # The key is taken, by an earlier call or by an attempt of this one.
    stored = database.write(work, on_conflict=lambda: None) or _find(database, turn_id, name)
    if stored is None:
        turn = database.read(lambda connection: get_turn(connection, turn_id))
        raise InvalidMove(f"turn {turn_id!r} has ended as {turn.status} and takes no more input")
    if stored.text != words:
        raise KeyConflict(f"the key {key!r} was used before for something else")
    return stored


def _find(database: Database, turn_id: TurnId, key: str) -> Input | None:
    rows = database.rows(_SELECT, {"steered": turn_id, "by_key": key})
    return next((input_from(row) for row in rows), None)
