"""How turns come into the store: with their trigger, in order of submission."""

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update

from runner.core.errors import ConflictError, ConversationBusy, InvalidMove, NotFound, UsageError
from runner.core.ids import TurnId
from runner.core.jsonvalue import storable_text
from runner.core.model import Usage
from runner.core.records import NewEvent, NewTurn, Turn
from runner.core.states import LIVE, Phase, TurnStatus, ensure_move
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import (
    Columns,
    message_columns,
    to_json,
    to_json_or_null,
    turn_from,
    usage_to_json,
)
from runner.store.conditions import has_status
from runner.store.database import Database
from runner.store.statements import find_turn, get_turn, insert_event, next_place
from runner.store.tables import ConversationRow, DefinitionRow, MessageRow, TurnRow

_SELECT_DEFINITION: Final = select(DefinitionRow.body).where(
    DefinitionRow.content_hash == bindparam("content_hash")
)
_TAKE_LANE: Final = (
    update(ConversationRow)
    .values(lanes=ConversationRow.lanes + 1)
    .returning(ConversationRow.id, ConversationRow.lanes)
)
_SELECT_LIVE: Final = (
    select(TurnRow.id)
    .where(
        TurnRow.conversation_id == bindparam("conversation"),
        TurnRow.id != bindparam("newcomer"),
        has_status(TurnRow.status, *LIVE),
    )
    .limit(1)
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

    def add(self, new: NewTurn) -> Turn:
        """
        Store a turn, its trigger and, when new, its conversation.

        Submitters of one conversation take its lanes one after another, under the lock on its
        row; whoever wants to run at once looks for earlier turns under the same lock.
        """
        return self._database.write(_Addition(new), on_conflict=lambda: self._added_before(new))

    def submit(self, turn_id: TurnId, *, timeout: timedelta) -> Turn:
        """
        Make a prepared turn pending, last in its conversation's lane; a submitted one stays as is.

        Of two that submit the same turn, the second finds it no longer prepared, and the lane it
        took is rolled back.
        """
        try:
            return self._database.write(_Submission(turn_id, timeout))
        except InvalidMove:
            turn = self._database.read(lambda connection: get_turn(connection, turn_id))
        if turn.status.is_ended:
            ensure_move(turn.status, TurnStatus.PENDING)
        return turn

    def _definition(self, content_hash: str) -> str | None:
        rows = self._database.rows(_SELECT_DEFINITION, {"content_hash": content_hash})
        return next((row["body"] for row in rows), None)

    def _added_before(self, new: NewTurn) -> Turn:
        """Return the turn if an attempt whose commit was not confirmed did store it."""
        turn = self._database.read(lambda connection: find_turn(connection, new.id))
        if turn is not None:
            return turn
        self.definition(new.definition_hash)
        raise ConflictError(f"turn {new.id!r} does not fit what is already stored")


class _Addition:
    """The transaction that stores a turn."""

    def __init__(self, new: NewTurn) -> None:
        self._new = new
        self._columns = _turn_columns(new)
        self._trigger = message_columns(new.trigger)

    def __call__(self, connection: Connection) -> Turn:
        new = self._new
        lane = self._lane(connection)
        if new.status is TurnStatus.RUNNING and not new.starts_conversation:
            _ensure_idle(connection, new)
        turn = turn_from(
            connection.execute(
                insert(TurnRow).values(self._columns | {"lane": lane}).returning(TurnRow)
            )
            .mappings()
            .one()
        )
        seq = next_place(new.conversation_id) if new.status is TurnStatus.RUNNING else None
        connection.execute(
            insert(MessageRow).values(self._trigger | {"seq": seq, "created_at": db_now()})
        )
        insert_event(connection, new.id, _added(turn))
        return turn

    def _lane(self, connection: Connection) -> int | None:
        """Give the turn its place, and its conversation where that is new."""
        new = self._new
        prepared = new.status is TurnStatus.PREPARED
        if new.starts_conversation:
            lanes = 0 if prepared else 1
            connection.execute(
                insert(ConversationRow).values(
                    id=new.conversation_id,
                    agent=storable_text(new.agent),
                    lanes=lanes,
                    created_at=db_now(),
                )
            )
            return lanes or None
        conversation = ConversationRow.id == new.conversation_id
        statement = (
            select(ConversationRow.id, ConversationRow.lanes) if prepared else _TAKE_LANE
        ).where(conversation)
        row = connection.execute(statement).one_or_none()
        if row is None:
            raise NotFound(
                f"there is no conversation {new.conversation_id!r}; `runner show` names a turn's"
            )
        return None if prepared else row.lanes


class _Submission:
    """The transaction that submits a prepared turn."""

    def __init__(self, turn_id: TurnId, timeout: timedelta) -> None:
        self._turn_id = turn_id
        home = select(TurnRow.conversation_id).where(TurnRow.id == turn_id).scalar_subquery()
        self._take_lane = _TAKE_LANE.where(ConversationRow.id == home)
        self._submit = (
            update(TurnRow)
            .where(TurnRow.id == turn_id, has_status(TurnRow.status, TurnStatus.PREPARED))
            .values(
                status=TurnStatus.PENDING,
                lane=bindparam("taken"),
                due_at=db_now(),
                deadline_at=db_now_plus(timeout),
            )
            .returning(TurnRow)
        )

    def __call__(self, connection: Connection) -> Turn:
        conversation = connection.execute(self._take_lane).one_or_none()
        if conversation is None:
            raise NotFound(f"there is no turn {self._turn_id!r}; `runner ps` lists them")
        row = connection.execute(self._submit, {"taken": conversation.lanes}).mappings()
        found = row.one_or_none()
        if found is None:
            raise InvalidMove(f"turn {self._turn_id!r} is no longer prepared")
        turn = turn_from(found)
        insert_event(connection, turn.id, _added(turn))
        return turn


def _turn_columns(new: NewTurn) -> Columns:
    columns: Columns = {
        "id": new.id,
        "conversation_id": new.conversation_id,
        "agent": storable_text(new.agent),
        "definition_hash": new.definition_hash,
        "kind": new.kind,
        "status": new.status,
        "phase": Phase.MODEL,
        "fence": 0,
        "step": 0,
        "claims": 0,
        "iterations": 1,
        "tool_executions": 0,
        "attempts": 0,
        "usage": usage_to_json(Usage()),
        "principal": to_json_or_null(new.principal),
        "context": to_json(new.context),
        "metadata": to_json(new.metadata),
        "created_at": db_now(),
    }
    match new.status:
        case TurnStatus.PREPARED:
            return columns
        case TurnStatus.PENDING:
            return columns | {"due_at": db_now(), "deadline_at": db_now_plus(new.timeout)}
        case TurnStatus.RUNNING:
            return columns | _claimed(new)
        case other:
            raise UsageError(f"a new turn cannot be {other}")


def _claimed(new: NewTurn) -> Columns:
    if new.worker_id is None or new.lease is None:
        raise UsageError("a turn that runs at once needs a worker and a lease")
    return {
        "fence": 1,
        "claims": 1,
        "worker_id": new.worker_id,
        "lease_expires_at": db_now_plus(new.lease),
        "started_at": db_now(),
        "deadline_at": db_now_plus(new.timeout),
    }


def _ensure_idle(connection: Connection, new: NewTurn) -> None:
    """Refuse a turn that is to run at once while another is live."""
    key = {"conversation": new.conversation_id, "newcomer": new.id}
    live = connection.execute(_SELECT_LIVE, key).scalar()
    if live is not None:
        raise ConversationBusy(
            f"turn {live!r} of conversation {new.conversation_id!r} has not ended"
        )


def _added(turn: Turn) -> NewEvent:
    """Return the event that tells of a turn as it was just stored or submitted."""
    match turn.status:
        case TurnStatus.PREPARED:
            return NewEvent(kind="turn.prepared")
        case TurnStatus.PENDING:
            return NewEvent(kind="turn.submitted", body={"lane": turn.lane})
        case _:
            return NewEvent(
                kind="turn.started", body={"fence": turn.fence, "worker_id": turn.worker_id}
            )
