"""The transaction that claims a turn."""

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, RowMapping, bindparam, exists, func, select, update

from runner.core.ids import TurnId, WorkerId
from runner.core.records import Claim, ClaimedTurn, NewEvent
from runner.core.states import TurnStatus
from runner.store.clock import db_now, db_now_plus, seconds_until
from runner.store.conditions import first_in_lane, has_status, is_due
from runner.store.rows import turn_from
from runner.store.statements import insert_event, next_place
from runner.store.tables import EventRow, MessageRow, TurnRow

_SECONDS_LEFT: Final = seconds_until(TurnRow.deadline_at).label("seconds_left")

_CLAIM: Final = (
    update(TurnRow)
    .where(TurnRow.id == bindparam("claimed_id"), is_due(), first_in_lane())
    .values(
        status=TurnStatus.RUNNING,
        fence=TurnRow.fence + 1,
        claims=TurnRow.claims + 1,
        worker_id=bindparam("worker"),
        is_inline=bindparam("inline"),
        lease_expires_at=db_now_plus("lease"),
        started_at=func.coalesce(TurnRow.started_at, db_now()),
        not_before=None,
        due_at=None,
    )
    .returning(TurnRow, _SECONDS_LEFT)
)
_PLACE_TRIGGER: Final = (
    update(MessageRow)
    .where(MessageRow.turn_id == bindparam("claimed_id"), MessageRow.seq.is_(None))
    .values(seq=next_place(bindparam("conversation")))
)
_FIND_OWN_CLAIM: Final = select(TurnRow, _SECONDS_LEFT).where(
    TurnRow.id == bindparam("claimed_id"),
    TurnRow.worker_id == bindparam("worker"),
    has_status(TurnRow.status, TurnStatus.RUNNING),
    exists().where(EventRow.id == bindparam("event"), EventRow.turn_id == TurnRow.id),
)


class Claiming:
    """
    One claim, which may take several attempts.

    An attempt whose connection was lost at its commit may have claimed the turn. The next one then
    finds it taken, and knows its own claim by the event stored with it.
    """

    def __init__(
        self, turn_id: TurnId, worker_id: WorkerId, lease: timedelta, *, inline: bool
    ) -> None:
        self._key = {"claimed_id": turn_id, "worker": worker_id}
        self._terms = {"lease": lease.total_seconds(), "inline": inline}
        self._event: int | None = None

    def __call__(self, connection: Connection) -> ClaimedTurn | None:
        row = connection.execute(_CLAIM, self._key | self._terms).mappings().one_or_none()
        if row is None:
            return self._own(connection)
        claimed = _claimed(row)
        turn = claimed.turn
        first = turn.fence == 1
        if first:
            connection.execute(
                _PLACE_TRIGGER, {"claimed_id": turn.id, "conversation": turn.conversation_id}
            )
        self._event = insert_event(
            connection,
            turn.id,
            NewEvent(
                kind="turn.started" if first else "turn.resumed",
                body={"fence": turn.fence, "worker_id": turn.worker_id},
            ),
        )
        return claimed

    def _own(self, connection: Connection) -> ClaimedTurn | None:
        if self._event is None:
            return None
        found = connection.execute(_FIND_OWN_CLAIM, self._key | {"event": self._event})
        row = found.mappings().one_or_none()
        return None if row is None else _claimed(row)


def _claimed(row: RowMapping) -> ClaimedTurn:
    turn = turn_from(row)
    claim = Claim(turn_id=turn.id, worker_id=WorkerId(row["worker_id"]), fence=turn.fence)
    return ClaimedTurn(claim=claim, turn=turn, seconds_left=row["seconds_left"])
