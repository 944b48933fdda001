"""What the end of a turn sets going, however it ends."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from sqlalchemy import BindParameter, Connection, RowMapping, bindparam, case, null, select, update

from runner.core.errors import StoreUnavailable
from runner.core.ids import ConversationId, TurnId
from runner.core.states import LIVE, TurnStatus
from runner.store.clock import db_now
from runner.store.conditions import as_status, first_in_lane, has_status, in_order, is_due
from runner.store.database import Database
from runner.store.tables import TurnRow, WaitRow
from runner.store.waits import by_count

#: What every turn has in these columns once it has ended.
ENDED: Final[Mapping[str, object]] = {
    "worker_id": None,
    "lease_expires_at": None,
    "not_before": None,
    "due_at": None,
    "ended_at": db_now(),
    "callback_due": case((TurnRow.callback_to.is_not(None), db_now()), else_=null()),
}
#: What `set_going` is to be told of each turn, which the statement that ends it returns.
ENDING: Final = (TurnRow.id, TurnRow.conversation_id, TurnRow.open_waits, TurnRow.waiters)

_LEAVERS: Final[BindParameter[str]] = bindparam("leavers", expanding=True)
_LOCK_AWAITED: Final = in_order(
    TurnRow.id.in_(
        select(WaitRow.awaited_id).where(
            WaitRow.waiter_id.in_(_LEAVERS), WaitRow.ended_at.is_(None)
        )
    )
)
_LEAVE: Final = (
    update(WaitRow)
    .where(WaitRow.waiter_id.in_(_LEAVERS), WaitRow.ended_at.is_(None))
    .values(ended_at=db_now())
    .returning(WaitRow.awaited_id)
)
_END_WAITS_FOR: Final = (
    update(WaitRow)
    .where(WaitRow.awaited_id.in_(bindparam("ended", expanding=True)), WaitRow.ended_at.is_(None))
    .values(ended_at=db_now())
    .returning(WaitRow.waiter_id)
)
_COUNT_OUT: Final = (
    update(TurnRow)
    .where(
        TurnRow.id.in_(in_order(TurnRow.id.in_(bindparam("ids", expanding=True)))),
        TurnRow.ended_at.is_(None),
    )
    .values(waiters=TurnRow.waiters - bindparam("fewer"))
)
_LEFT: Final = TurnRow.open_waits - bindparam("fewer")
_GOES_ON: Final = has_status(TurnRow.status, TurnStatus.WAITING) & (_LEFT <= 0)
_WAKE: Final = (
    update(TurnRow)
    .where(
        TurnRow.id.in_(in_order(TurnRow.id.in_(bindparam("ids", expanding=True)))),
        TurnRow.ended_at.is_(None),
    )
    .values(
        open_waits=_LEFT,
        status=case((_GOES_ON, as_status(TurnStatus.PENDING)), else_=TurnRow.status),
        due_at=case((_GOES_ON, db_now()), else_=TurnRow.due_at),
    )
    .returning(TurnRow.id, TurnRow.status, TurnRow.open_waits)
)
_SELECT_STARTABLE: Final = select(TurnRow.id).where(
    TurnRow.conversation_id.in_(bindparam("conversations", expanding=True)),
    has_status(TurnRow.status, *LIVE),
    is_due(),
    first_in_lane(),
)


def lock_awaited(connection: Connection, turn_ids: Collection[TurnId]) -> None:
    """
    Lock what turns wait for, which comes before the turns themselves, when they are to end.

    Those that end at the same moment would otherwise hold themselves and want these.
    """
    if turn_ids:
        connection.execute(_LOCK_AWAITED, {"leavers": sorted(turn_ids)})


def set_going(connection: Connection, ended: Sequence[RowMapping]) -> Sequence[TurnId]:
    """
    End the waits of and for turns that end in this transaction, and return who goes on.

    A turn that waited for nothing else is pending at once; one that is paused stays so. It takes
    the same few statements however many turns wait, or are still awaited by those that wait.

    Args:
        connection: The transaction.
        ended: The turns, each with the columns of `ENDING`.
    """
    _leave(connection, [row["id"] for row in ended if row["open_waits"]])
    awaited = [row["id"] for row in ended if row["waiters"]]
    if not awaited:
        return []
    waiters = Counter(connection.scalars(_END_WAITS_FOR, {"ended": awaited}).all())
    woken = list[TurnId]()
    for fewer, ids in by_count(_turns(waiters)).items():
        rows = connection.execute(_WAKE, {"ids": ids, "fewer": fewer})
        woken += [
            TurnId(row.id)
            for row in rows
            if row.status is TurnStatus.PENDING and row.open_waits == 0
        ]
    return woken


def startable(database: Database, conversation_ids: Iterable[ConversationId]) -> Sequence[TurnId]:
    """
    Return the turns that may start now that others of their conversations have ended.

    It looks after the commit, so that a turn submitted at the same moment is either seen here or
    finds the earlier one ended. What was written stands also if the database cannot be reached any
    more; a sweep finds the turns then.
    """
    conversations = sorted(set(conversation_ids))
    if not conversations:
        return []
    try:
        rows = database.rows(_SELECT_STARTABLE, {"conversations": conversations})
    except StoreUnavailable:
        return []
    return [TurnId(row["id"]) for row in rows]


def _leave(connection: Connection, turn_ids: Sequence[TurnId]) -> None:
    """End the waits of turns that have ended before what they waited for."""
    if not turn_ids:
        return
    awaited = Counter(connection.scalars(_LEAVE, {"leavers": turn_ids}).all())
    for fewer, ids in by_count(_turns(awaited)).items():
        connection.execute(_COUNT_OUT, {"ids": ids, "fewer": fewer})


def _turns(counts: Counter[str]) -> Mapping[TurnId, int]:
    return {TurnId(turn_id): number for turn_id, number in counts.items()}
