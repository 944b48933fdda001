"""How turns come into the store: with their trigger, in order of submission."""

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, insert, literal, select

from runner.core.errors import ConflictError, InvalidMove, NotFound
from runner.core.ids import TurnId
from runner.core.jsonvalue import storable_text
from runner.core.records import NewTurn, Turn
from runner.core.states import TurnStatus, ensure_move
from runner.store.adding import Addition
from runner.store.clock import db_now
from runner.store.database import Database
from runner.store.statements import find_turn, get_turn
from runner.store.submitting import Submission
from runner.store.tables import DefinitionRow

_SELECT_DEFINITION: Final = select(DefinitionRow.body).where(
    DefinitionRow.content_hash == bindparam("content_hash")
)
#: As snapshots are written, where an agent has some; in a text its quotes would be escaped.
_WITH_POLICIES: Final = '%"policies":[{%'
_FIND_POLICIES: Final = (
    select(literal(1).label("found")).where(DefinitionRow.body.like(_WITH_POLICIES)).limit(1)
)


class SqlIntake:
    """The intake over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_definition(self, *, content_hash: str, kind: str, name: str, body: str) -> None:
        """Keep a definition snapshot; of two that save the same one, one finds it stored."""
        if self._definition(content_hash) is not None:
            return
        columns = {
            "content_hash": content_hash,
            "kind": kind,
            "name": storable_text(name),
            "body": storable_text(body),
        }
        statement = insert(DefinitionRow).values(columns).values(created_at=db_now())

        def save(connection: Connection) -> None:
            connection.execute(statement)

        self._database.write(save, on_conflict=lambda: None)

    def definition(self, content_hash: str) -> str:
        body = self._definition(content_hash)
        if body is None:
            raise NotFound(f"no definition is stored under {content_hash!r}")
        return body

    def has_policies(self) -> bool:
        return bool(self._database.rows(_FIND_POLICIES, {}))

    def add(self, new: NewTurn) -> Turn:
        """
        Store a turn, its trigger and, when new, its conversation.

        Submitters of one conversation take its lanes one after another, under the lock on its
        row; whoever wants to run at once looks for earlier turns under the same lock. A turn that
        is there already is returned, whatever would stand in the way of adding it now.
        """
        try:
            return self._database.write(Addition(new), on_conflict=lambda: self._conflict(new))
        except ConflictError:
            turn = self._database.read(lambda connection: find_turn(connection, new.id))
            if turn is None:
                raise
            return turn

    def submit(self, turn_id: TurnId, *, timeout: timedelta) -> Turn:
        """
        Make a prepared turn pending, last in its conversation's lane; a submitted one stays as is.

        Of two that submit the same turn, the second finds it no longer prepared, and the lane it
        took is rolled back.
        """
        try:
            return self._database.write(Submission(turn_id, timeout))
        except InvalidMove:
            turn = self._database.read(lambda connection: get_turn(connection, turn_id))
        if turn.status.is_ended:
            ensure_move(turn.status, TurnStatus.PENDING)
        return turn

    def _definition(self, content_hash: str) -> str | None:
        rows = self._database.rows(_SELECT_DEFINITION, {"content_hash": content_hash})
        return next((row["body"] for row in rows), None)

    def _conflict(self, new: NewTurn) -> Turn:
        """Say what does not fit; the turn itself may be what is stored already."""
        self.definition(new.definition_hash)
        raise ConflictError(f"turn {new.id!r} does not fit what is already stored")
