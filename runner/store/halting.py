"""The transactions that pause turns and let them go on."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, RowMapping, bindparam, case, false, null, true, update

from runner.core.coordination import Reach, Receipt, Receipts, ReceiptState
from runner.core.ids import TurnId
from runner.core.records import NewEvent
from runner.core.states import TurnStatus
from runner.store.asking import has_unread_answer
from runner.store.clock import db_now
from runner.store.codec import event_columns
from runner.store.conditions import as_status, has_status
from runner.store.reaching import reach_turns
from runner.store.statements import insert_events
from runner.store.tables import TurnRow

_OF_THESE: Final = update(TurnRow).where(
    TurnRow.id.in_(bindparam("ids", expanding=True)), TurnRow.ended_at.is_(None)
)
_PAUSE: Final = _OF_THESE.values(status=TurnStatus.PAUSED, not_before=None, due_at=None)
_REQUEST_PAUSE: Final = _OF_THESE.values(pause_requested=true())
#: What waits for people alone is claimed once more, to see whether there is something else to do.
_WAITS_ON: Final = (
    has_status(TurnRow.status, TurnStatus.PAUSED) & (TurnRow.open_waits > 0) & ~has_unread_answer()
)
_RESUME: Final = _OF_THESE.values(
    status=case((_WAITS_ON, as_status(TurnStatus.WAITING)), else_=as_status(TurnStatus.PENDING)),
    due_at=case((_WAITS_ON, null()), else_=db_now()),
    pause_requested=false(),
    is_inline=false(),
).returning(TurnRow.id, TurnRow.status)
_WITHDRAW_PAUSE: Final = _OF_THESE.values(pause_requested=false())

_AT_ONCE: Final = {TurnStatus.PENDING, TurnStatus.WAITING}
_LATER: Final = {TurnStatus.RUNNING, TurnStatus.PREPARED}

_PAUSED: Final = NewEvent(kind="turn.paused")
_PAUSE_REQUESTED: Final = NewEvent(kind="turn.pause_requested")
_UNPAUSED: Final = NewEvent(kind="turn.unpaused")


class Pausing:
    """One pause: what runs, or is not submitted yet, is only marked."""

    def __init__(self, turn_id: TurnId, reach: Reach) -> None:
        self._turn_id = turn_id
        self._reach = reach

    def __call__(self, connection: Connection) -> Receipts:
        return Receipts(turns=tuple(reach_turns(connection, self._turn_id, self._reach, self._act)))

    def _act(self, connection: Connection, rows: Sequence[RowMapping]) -> Iterator[Receipt]:
        free = [row for row in rows if not row["cancel_requested"]]
        at_once = [row["id"] for row in free if row["status"] in _AT_ONCE]
        later = [row["id"] for row in free if row["status"] in _LATER]
        fresh = [r["id"] for r in free if r["status"] in _LATER and not r["pause_requested"]]
        if at_once:
            connection.execute(_PAUSE, {"ids": at_once})
        if fresh:
            connection.execute(_REQUEST_PAUSE, {"ids": fresh})
        events = [event_columns(turn_id, _PAUSED) for turn_id in at_once]
        events += [event_columns(turn_id, _PAUSE_REQUESTED) for turn_id in fresh]
        insert_events(connection, events)
        for row in rows:
            if row["id"] in at_once:
                yield _receipt(row, ReceiptState.DONE, TurnStatus.PAUSED)
            elif row["id"] in later:
                yield _receipt(row, ReceiptState.REQUESTED)
            else:
                yield _receipt(row, ReceiptState.UNCHANGED)


class Resuming:
    """One resume, of what is paused or stale, and of what was asked to pause and has not yet."""

    def __init__(self, turn_id: TurnId, reach: Reach) -> None:
        self._turn_id = turn_id
        self._reach = reach
        self._wake = list[TurnId]()

    def __call__(self, connection: Connection) -> Receipts:
        self._wake.clear()
        receipts = reach_turns(connection, self._turn_id, self._reach, self._act)
        return Receipts(turns=tuple(receipts), wake=tuple(self._wake))

    def _act(self, connection: Connection, rows: Sequence[RowMapping]) -> Iterator[Receipt]:
        halted = [r["id"] for r in rows if r["status"] in {TurnStatus.PAUSED, TurnStatus.STALE}]
        marked = [row["id"] for row in rows if row["pause_requested"] and row["id"] not in halted]
        statuses = dict[TurnId, TurnStatus]()
        if halted:
            resumed = connection.execute(_RESUME, {"ids": halted})
            statuses = {TurnId(row.id): row.status for row in resumed}
        if marked:
            connection.execute(_WITHDRAW_PAUSE, {"ids": marked})
        insert_events(
            connection, [event_columns(turn_id, _UNPAUSED) for turn_id in (*halted, *marked)]
        )
        self._wake += [i for i, status in statuses.items() if status is TurnStatus.PENDING]
        for row in rows:
            done = row["id"] in statuses or row["id"] in marked
            state = ReceiptState.DONE if done else ReceiptState.UNCHANGED
            yield _receipt(row, state, statuses.get(row["id"]))


def _receipt(row: RowMapping, state: ReceiptState, status: TurnStatus | None = None) -> Receipt:
    return Receipt(turn_id=row["id"], state=state, status=status or row["status"])
