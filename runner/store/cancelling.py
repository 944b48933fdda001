"""The transaction that cancels turns."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import (
    Connection,
    RowMapping,
    bindparam,
    false,
    literal_column,
    select,
    true,
    update,
)

from runner.core.coordination import Reach, Receipt, Receipts, ReceiptState
from runner.core.ids import ConversationId, TurnId
from runner.core.records import NewEvent
from runner.core.states import TurnStatus
from runner.store.asking import withdraw
from runner.store.clock import db_now
from runner.store.codec import event_columns
from runner.store.conditions import in_order
from runner.store.ending import ENDED, ENDING, set_going
from runner.store.reaching import TREE, reach_turns
from runner.store.statements import insert_events
from runner.store.tables import TurnRow, WaitRow

_IDS: Final = TurnRow.id.in_(bindparam("ids", expanding=True))
#: What turns that never started wait for: it is locked before they are.
_LOCK_AWAITED: Final = in_order(
    TurnRow.id.in_(
        select(WaitRow.awaited_id).where(
            WaitRow.waiter_id.in_(select(TREE.c.id)), WaitRow.ended_at.is_(None)
        )
    )
)
_END: Final = (
    update(TurnRow)
    .where(_IDS, TurnRow.ended_at.is_(None))
    .values(ENDED)
    .values(status=TurnStatus.CANCELLED, cancel_requested=true())
    .returning(*ENDING)
)
_MARK: Final = (
    update(TurnRow)
    .where(_IDS, TurnRow.ended_at.is_(None))
    .values(
        status=TurnStatus.PENDING,
        cancel_requested=true(),
        pause_requested=false(),
        is_inline=false(),
        worker_id=None,
        lease_expires_at=None,
        not_before=None,
        due_at=db_now(),
        open_approvals=literal_column("0"),
    )
)
_CANCELLED: Final = NewEvent(kind="turn.cancelled")
_REQUESTED: Final = NewEvent(kind="turn.cancel_requested")


class Cancelling:
    """
    One cancel, which may take several attempts.

    What never started ends here. What has started is marked and loses its claim, nobody is asked
    any more what it has asked, and whoever
    claims it next closes its open calls and ends it; that claim is not taken away again. A turn
    that was submitted and given input counts as started: its end has to pass the input on.
    """

    def __init__(self, turn_id: TurnId, reach: Reach) -> None:
        self._turn_id = turn_id
        self._reach = reach
        self._wake = list[TurnId]()
        #: Those in which turns have ended.
        self.conversations = set[ConversationId]()

    def __call__(self, connection: Connection) -> Receipts:
        self._wake.clear()
        connection.execute(_LOCK_AWAITED, {"top": self._turn_id})
        receipts = reach_turns(connection, self._turn_id, self._reach, self._act)
        return Receipts(turns=tuple(receipts), wake=tuple(self._wake))

    def _act(self, connection: Connection, rows: Sequence[RowMapping]) -> Iterator[Receipt]:
        unstarted = [row["id"] for row in rows if _ends_here(row)]
        started = [row for row in rows if not _ends_here(row)]
        fresh = [row["id"] for row in started if not _is_under_way(row)]
        if unstarted:
            ended = connection.execute(_END, {"ids": unstarted}).mappings().all()
            self.conversations.update(row["conversation_id"] for row in ended)
            self._wake += set_going(connection, ended)
        if fresh:
            connection.execute(_MARK, {"ids": fresh})
        asking = [row["id"] for row in started if row["id"] in fresh and row["open_approvals"]]
        events = [*withdraw(connection, asking)]
        events += [event_columns(turn_id, _CANCELLED) for turn_id in unstarted]
        events += [event_columns(turn_id, _REQUESTED) for turn_id in fresh]
        insert_events(connection, events)
        for turn_id in unstarted:
            yield Receipt(turn_id=turn_id, state=ReceiptState.DONE, status=TurnStatus.CANCELLED)
        for row in started:
            yield self._requested(row)

    def _requested(self, row: RowMapping) -> Receipt:
        is_closing = row["cancel_requested"] and row["status"] is TurnStatus.RUNNING
        status = TurnStatus.RUNNING if is_closing else TurnStatus.PENDING
        if not is_closing:
            self._wake.append(row["id"])
        return Receipt(turn_id=row["id"], state=ReceiptState.REQUESTED, status=status)


def _ends_here(row: RowMapping) -> bool:
    """Say whether nothing of a turn has happened that would have to be closed."""
    is_prepared = row["status"] is TurnStatus.PREPARED
    return is_prepared or (row["started_at"] is None and not row["open_inputs"])


def _is_under_way(row: RowMapping) -> bool:
    """Say whether a turn was cancelled before and is, or can be, claimed for that."""
    on_its_way = row["status"] in {TurnStatus.PENDING, TurnStatus.RUNNING}
    return bool(row["cancel_requested"]) and on_its_way
