"""How the store is repaired: by predicate alone, so that no worker needs to be known."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    ScalarSelect,
    Select,
    bindparam,
    case,
    exists,
    false,
    func,
    null,
    select,
    update,
)
from sqlalchemy.orm import aliased

from runner.core.errors import StoreError, StoreUnavailable
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.records import NewEvent, TurnError
from runner.core.states import TurnStatus
from runner.store.answering import COUNT_ANSWERS
from runner.store.asking import expire, has_open_approval, has_unread_answer
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import error_to_json
from runner.store.conditions import as_status, first_in_lane, has_status, is_due
from runner.store.database import Database
from runner.store.ending import ENDED, ENDING, lock_awaited, set_going, startable
from runner.store.statements import insert_event, insert_events
from runner.store.tables import HALTED, UNSTARTED, ApprovalRow, TurnRow, WaitRow

#: Mends one turn and says whether it may be claimed now.
Repair: TypeAlias = Callable[[TurnId, Connection], bool]

logger = logging.getLogger(__name__)

_OVERDUE_ERROR: Final = TurnError(
    code="limit",
    message="limits.timeout: the turn's time was over before it could start",
    details={"path": "limits.timeout"},
)
_EXPIRED: Final[JsonObject] = {"reason": "lease expired"}
_LOST: Final[Mapping[TurnStatus, NewEvent]] = {
    TurnStatus.PENDING: NewEvent(kind="turn.released", body=_EXPIRED),
    TurnStatus.PAUSED: NewEvent(kind="turn.paused", body=_EXPIRED),
    TurnStatus.STALE: NewEvent(kind="turn.stale", body=_EXPIRED),
}
_OVERDUE: Final = NewEvent(kind="turn.released", body={"reason": "deadline passed"})
_JOINED: Final = NewEvent(kind="turn.released", body={"reason": "nothing awaited is open"})
_IS_UNANSWERED: Final = ApprovalRow.answered_at.is_(None) & (ApprovalRow.expires_at <= db_now())
_FAILED: Final = NewEvent(
    kind="turn.failed", body={"code": _OVERDUE_ERROR.code, "message": _OVERDUE_ERROR.message}
)

_IS_EXPIRED: Final = has_status(TurnRow.status, TurnStatus.RUNNING) & (
    TurnRow.lease_expires_at < db_now()
)
_IS_OVERDUE: Final = (
    has_status(TurnRow.status, *UNSTARTED)
    & TurnRow.started_at.is_(None)
    & (TurnRow.deadline_at < db_now())
    & (TurnRow.open_inputs == 0)
)
_IS_HALTED_TOO_LONG: Final = (
    has_status(TurnRow.status, *HALTED)
    & (TurnRow.deadline_at < db_now())
    & (TurnRow.started_at.is_not(None) | (TurnRow.open_inputs > 0))
)
_AWAITED: Final = aliased(TurnRow, name="awaited")
_WAITS: Final = (
    exists()
    .where(
        WaitRow.waiter_id == TurnRow.id,
        WaitRow.ended_at.is_(None),
        _AWAITED.id == WaitRow.awaited_id,
        _AWAITED.ended_at.is_(None),
    )
    .correlate(TurnRow)
)
_HAS_COME: Final = (TurnRow.open_waits > 0) & ~_WAITS
_WAITS_FOR_NOTHING: Final = has_status(TurnRow.status, TurnStatus.WAITING) & (
    (~_WAITS & ~has_open_approval()) | _HAS_COME | has_unread_answer()
)


def _if_free(condition: ColumnElement[bool]) -> ScalarSelect[str]:
    """Choose one turn if *condition* still holds and nobody is writing to it right now."""
    return (
        select(TurnRow.id)
        .where(TurnRow.id == bindparam("turn_id"), condition)
        .with_for_update(skip_locked=True, key_share=True)
        .scalar_subquery()
    )


_IS_ABANDONED: Final = TurnRow.is_inline & ~TurnRow.cancel_requested
_RELEASE: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_IS_EXPIRED), _IS_EXPIRED)
    .values(
        status=case(
            (_IS_ABANDONED, as_status(TurnStatus.STALE)),
            (TurnRow.pause_requested, as_status(TurnStatus.PAUSED)),
            else_=as_status(TurnStatus.PENDING),
        ),
        pause_requested=false(),
        worker_id=None,
        lease_expires_at=None,
        due_at=case((_IS_ABANDONED | TurnRow.pause_requested, null()), else_=db_now()),
    )
    .returning(TurnRow.status)
)
_PENDING_NOW: Final[Mapping[str, object]] = {
    "status": TurnStatus.PENDING,
    "not_before": None,
    "due_at": db_now(),
}
_HURRY: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_IS_HALTED_TOO_LONG), _IS_HALTED_TOO_LONG)
    .values(_PENDING_NOW)
    .values(pause_requested=false())
    .returning(TurnRow.status)
)
_REJOIN: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_WAITS_FOR_NOTHING), _WAITS_FOR_NOTHING)
    .values(_PENDING_NOW)
    .values(open_waits=case((_WAITS, TurnRow.open_waits), else_=0))
    .returning(TurnRow.status)
)
_CLOSE_WAITS: Final = (
    update(WaitRow)
    .where(
        WaitRow.waiter_id == bindparam("turn_id"),
        WaitRow.ended_at.is_(None),
        exists().where(_AWAITED.id == WaitRow.awaited_id, _AWAITED.ended_at.is_not(None)),
    )
    .values(ended_at=db_now())
)
_FAIL: Final = (
    update(TurnRow)
    .where(TurnRow.id == _if_free(_IS_OVERDUE), _IS_OVERDUE)
    .values(ENDED)
    .values(status=TurnStatus.FAILED, error=error_to_json(_OVERDUE_ERROR))
    .returning(*ENDING)
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
_SELECT_HALTED: Final = (
    select(TurnRow.id)
    .where(_IS_HALTED_TOO_LONG)
    .order_by(TurnRow.deadline_at)
    .limit(bindparam("most"))
)
_SELECT_ASKED_TOO_LONG: Final = (
    select(ApprovalRow.turn_id)
    .where(_IS_UNANSWERED)
    .group_by(ApprovalRow.turn_id)
    .order_by(func.min(ApprovalRow.expires_at))
    .limit(bindparam("most"))
)
_LOCK_IF_FREE: Final = (
    select(TurnRow.id)
    .where(TurnRow.id == bindparam("turn_id"))
    .with_for_update(skip_locked=True, key_share=True)
)
_SELECT_JOINED: Final = (
    select(TurnRow.id)
    .where(_WAITS_FOR_NOTHING)
    .order_by(TurnRow.created_at)
    .limit(bindparam("most"))
)

#: What leaves a turn with nobody responsible for it. A prepared, paused or stale turn is a
#: person's; a waiting one is that of the turns it waits for, or of the people it asks until their
#: time is over; a running one is its worker's, or a
#: sweep's once the lease is over.
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
    (_WAITS_FOR_NOTHING, "waiting for nothing"),
    (
        has_status(TurnRow.status, *HALTED) & TurnRow.cancel_requested,
        "to be cancelled, and not pending",
    ),
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
        its turn or finds it gone. The fence stays: the next claim raises it. What was to pause at
        its next boundary is paused, and an inline turn is stale: neither is returned.
        """
        return self._repair(_release, self._find(_SELECT_EXPIRED, limit))

    def release_overdue(self, *, limit: int) -> Sequence[TurnId]:
        """
        Make started turns that wait, are paused or stale past their deadline pending.

        So are others that were given input: whoever claims them sees that it is not lost.
        Of a sweep and an end that wakes such a turn, or a person who resumes it, the second finds
        it pending.
        """
        return self._repair(_hurry, self._find(_SELECT_HALTED, limit))

    def release_joined(self, *, limit: int) -> Sequence[TurnId]:
        """
        Make waiting turns pending of which nothing awaited is open any more.

        The end of the last awaited turn does so itself, and so does an answer; this mends what is
        not as it should be.
        """
        return self._repair(_rejoin, self._find(_SELECT_JOINED, limit))

    def expire_approvals(self, *, limit: int) -> Sequence[TurnId]:
        """
        Answer the approvals of up to *limit* turns that nobody answered in time.

        Of a sweep and a person that answer at the same moment, the second finds it answered.
        """
        rows = self._database.rows(_SELECT_ASKED_TOO_LONG, {"most": limit})
        return self._repair(_expire, [TurnId(row["turn_id"]) for row in rows])

    def fail_overdue(self, *, limit: int) -> Sequence[TurnId]:
        """
        Fail submitted turns that never started and whose deadline has passed.

        Of a sweep and a worker that claims such a turn, one finds it no longer pending. What may
        start now is looked for afterwards, so that nothing submitted meanwhile is overlooked.
        """
        failing = _Failing()
        self._repair(failing, self._find(_SELECT_OVERDUE, limit))
        freed = startable(self._database, failing.conversations)
        return list(dict.fromkeys((*failing.woken, *freed)))

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

    def _repair(self, repair: Repair, turn_ids: Sequence[TurnId]) -> Sequence[TurnId]:
        """
        Repair each turn in a transaction of its own, so that none holds up the others.

        Returns those that may be claimed now.
        """
        repaired = list[TurnId]()
        for turn_id in turn_ids:
            try:
                if self._database.write(partial(repair, turn_id)):
                    repaired.append(turn_id)
            except StoreUnavailable:
                raise
            except StoreError:
                logger.exception("a sweep could not repair a turn", extra={"turn_id": turn_id})
        return repaired


def _release(turn_id: TurnId, connection: Connection) -> bool:
    status = connection.execute(_RELEASE, {"turn_id": turn_id}).scalar_one_or_none()
    if status is None:
        return False
    insert_event(connection, turn_id, _LOST[status])
    return status is TurnStatus.PENDING


def _hurry(turn_id: TurnId, connection: Connection) -> bool:
    if connection.execute(_HURRY, {"turn_id": turn_id}).scalar_one_or_none() is None:
        return False
    insert_event(connection, turn_id, _OVERDUE)
    return True


def _expire(turn_id: TurnId, connection: Connection) -> bool:
    if connection.execute(_LOCK_IF_FREE, {"turn_id": turn_id}).one_or_none() is None:
        return False
    events = expire(connection, turn_id)
    if not events:
        return False
    insert_events(connection, events)
    count = {"asker": turn_id, "fewer": len(events)}
    return connection.execute(COUNT_ANSWERS, count).scalar() is TurnStatus.PENDING


def _rejoin(turn_id: TurnId, connection: Connection) -> bool:
    if connection.execute(_REJOIN, {"turn_id": turn_id}).scalar_one_or_none() is None:
        return False
    connection.execute(_CLOSE_WAITS, {"turn_id": turn_id})
    insert_event(connection, turn_id, _JOINED)
    return True


class _Failing:
    """Fails turns one by one, and remembers what that sets going."""

    def __init__(self) -> None:
        self.conversations = set[ConversationId]()
        self.woken = list[TurnId]()

    def __call__(self, turn_id: TurnId, connection: Connection) -> bool:
        lock_awaited(connection, [turn_id])
        row = connection.execute(_FAIL, {"turn_id": turn_id}).mappings().one_or_none()
        if row is None:
            return False
        insert_event(connection, turn_id, _FAILED)
        self.conversations.add(row["conversation_id"])
        self.woken += set_going(connection, [row])
        return True


def _ids(rows: Sequence[RowMapping]) -> Sequence[TurnId]:
    return [TurnId(row["id"]) for row in rows]
