"""How the store is repaired: by predicate alone, so that no worker needs to be known."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    ScalarSelect,
    Select,
    Update,
    bindparam,
    case,
    select,
    update,
)

from runner.core.errors import StoreError, StoreUnavailable
from runner.core.ids import ConversationId, TurnId
from runner.core.records import NewEvent, TurnError
from runner.core.states import TurnStatus
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import error_to_json
from runner.store.conditions import first_in_lane, has_status, is_due
from runner.store.database import Database
from runner.store.statements import insert_event
from runner.store.tables import TurnRow

logger = logging.getLogger(__name__)

_OVERDUE_ERROR: Final = TurnError(
    code="limit",
    message="limits.timeout: the turn's time was over before it could start",
    details={"path": "limits.timeout"},
)
_RELEASED: Final = NewEvent(kind="turn.released", body={"reason": "lease expired"})
_FAILED: Final = NewEvent(
    kind="turn.failed", body={"code": _OVERDUE_ERROR.code, "message": _OVERDUE_ERROR.message}
)

_IS_EXPIRED: Final = has_status(TurnRow.status, TurnStatus.RUNNING) & (
    TurnRow.lease_expires_at < db_now()
)
_IS_OVERDUE: Final = (
    has_status(TurnRow.status, TurnStatus.PENDING)
    & TurnRow.started_at.is_(None)
    & (TurnRow.deadline_at < db_now())
)


def _if_free(condition: ColumnElement[bool]) -> ScalarSelect[str]:
    """Choose one turn if *condition* still holds and nobody is writing to it right now."""
    return (
        select(TurnRow.id)
        .where(TurnRow.id == bindparam("turn_id"), condition)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )


_RELEASE: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_IS_EXPIRED), _IS_EXPIRED)
    .values(status=TurnStatus.PENDING, worker_id=None, lease_expires_at=None, due_at=db_now())
    .returning(TurnRow.conversation_id)
)
_FAIL: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_IS_OVERDUE), _IS_OVERDUE)
    .values(
        status=TurnStatus.FAILED,
        error=error_to_json(_OVERDUE_ERROR),
        due_at=None,
        ended_at=db_now(),
    )
    .returning(TurnRow.conversation_id)
)
_SELECT_EXPIRED: Final = (
    select(TurnRow.id)
    .where(_IS_EXPIRED)
    .order_by(TurnRow.lease_expires_at)
    .limit(bindparam("most"))
)
_SELECT_OVERDUE: Final = (
    select(TurnRow.id).where(_IS_OVERDUE).order_by(TurnRow.deadline_at).limit(bindparam("most"))
)
_SELECT_DUE: Final = (
    select(TurnRow.id)
    .where(is_due(), TurnRow.due_at <= db_now_plus("since"), first_in_lane())
    .order_by(TurnRow.due_at)
    .limit(bindparam("most"))
)
_SELECT_STARTABLE: Final = select(TurnRow.id).where(
    TurnRow.conversation_id.in_(bindparam("conversations", expanding=True)),
    is_due(),
    first_in_lane(),
)

#: What leaves a turn with nobody responsible for it. A prepared turn is a person's, a paused one
#: too; a running one is its worker's, or a sweep's once the lease is over.
_FAULT: Final = case(
    (
        has_status(TurnRow.status, TurnStatus.RUNNING)
        & (TurnRow.lease_expires_at.is_(None) | TurnRow.worker_id.is_(None)),
        "running without a worker and a lease",
    ),
    (
        has_status(TurnRow.status, TurnStatus.PENDING) & TurnRow.due_at.is_(None),
        "pending without a due time",
    ),
    (
        has_status(TurnRow.status, TurnStatus.PENDING) & TurnRow.lane.is_(None),
        "pending without a place in its lane",
    ),
    (has_status(TurnRow.status, TurnStatus.WAITING), "waiting for nothing"),
)
_SELECT_UNATTENDED: Final = (
    select(TurnRow.id, _FAULT.label("fault"))
    .where(
        has_status(TurnRow.status, *(status for status in TurnStatus if not status.is_ended)),
        _FAULT.is_not(None),
    )
    .order_by(TurnRow.status, TurnRow.created_at)
    .limit(bindparam("most"))
)


class SqlSweeps:
    """The sweeps over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def release_expired(self, *, limit: int) -> Sequence[TurnId]:
        """
        Move running turns whose lease is over back to pending, and return them.

        The lease is part of the condition, so a worker that renews at the same moment either keeps
        its turn or finds it gone. The fence stays: the next claim raises it.
        """
        return list(self._repair(_RELEASE, self._find(_SELECT_EXPIRED, limit), _RELEASED))

    def fail_overdue(self, *, limit: int) -> Sequence[TurnId]:
        """
        Fail submitted turns that never started and whose deadline has passed.

        Of a sweep and a worker that claims such a turn, one finds it no longer pending. What may
        start now is looked for afterwards, so that nothing submitted meanwhile is overlooked.
        """
        failed = self._repair(_FAIL, self._find(_SELECT_OVERDUE, limit), _FAILED)
        if not failed:
            return []
        conversations = sorted(set(failed.values()))
        return _ids(self._database.rows(_SELECT_STARTABLE, {"conversations": conversations}))

    def due(self, *, limit: int, quiet: timedelta) -> Sequence[TurnId]:
        """Return pending turns that may be claimed and have been so for at least *quiet*."""
        parameters = {"since": -quiet.total_seconds(), "most": limit}
        return _ids(self._database.rows(_SELECT_DUE, parameters))

    def unattended(self, *, limit: int) -> Sequence[tuple[TurnId, str]]:
        """Return turns that nobody is responsible for, each with what is wrong."""
        rows = self._database.rows(_SELECT_UNATTENDED, {"most": limit})
        return [(TurnId(row["id"]), row["fault"]) for row in rows]

    def _find(self, statement: Select[str], limit: int) -> Sequence[TurnId]:
        return _ids(self._database.rows(statement, {"most": limit}))

    def _repair(
        self, statement: Update, turn_ids: Sequence[TurnId], event: NewEvent
    ) -> dict[TurnId, ConversationId]:
        """Change each turn in a transaction of its own, so that none holds up the others."""
        repaired = dict[TurnId, ConversationId]()
        for turn_id in turn_ids:
            try:
                conversation = self._database.write(partial(_change, statement, turn_id, event))
            except StoreUnavailable:
                raise
            except StoreError:
                logger.exception("a sweep could not repair a turn", extra={"turn_id": turn_id})
                continue
            if conversation is not None:
                repaired[turn_id] = conversation
        return repaired


def _change(
    statement: Update, turn_id: TurnId, event: NewEvent, connection: Connection
) -> ConversationId | None:
    conversation = connection.execute(statement, {"turn_id": turn_id}).scalar_one_or_none()
    if conversation is None:
        return None
    insert_event(connection, turn_id, event)
    return ConversationId(conversation)


def _ids(rows: Sequence[RowMapping]) -> Sequence[TurnId]:
    return [TurnId(row["id"]) for row in rows]
