"""Turns in every status, and families of them, for tests of controls."""

from collections.abc import Callable
from datetime import timedelta

from runner.core.coordination import Reach, Receipt, ReceiptState
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    add,
    child_of,
    claim,
    launching,
    step,
    waiting_for,
)

Mark = Callable[[str], None]
PREPARED, PENDING, RUNNING = TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING
WAITING, PAUSED, STALE = TurnStatus.WAITING, TurnStatus.PAUSED, TurnStatus.STALE
COMPLETED, CANCELLED = TurnStatus.COMPLETED, TurnStatus.CANCELLED
REQUESTED, DONE, UNCHANGED = ReceiptState.REQUESTED, ReceiptState.DONE, ReceiptState.UNCHANGED
RETAIN, CASCADE = Reach.RETAIN, Reach.CASCADE
NOW = timedelta(0)


def receipt(turn: Turn, state: ReceiptState, status: TurnStatus) -> Receipt:
    return Receipt(turn_id=turn.id, state=state, status=status)


def in_status(store: Store, status: TurnStatus, expire_lease: Mark) -> Turn:
    """Return a turn in *status* that has been claimed before, where that is possible."""
    if status in {PREPARED, PENDING}:
        return add(store, status=status)
    if status is STALE:
        inline = add(store, status=RUNNING)
        expire_lease(inline.id)
        store.sweeps.release_expired(limit=10)
        return store.views.turn(inline.id)
    claimed = claim(store, add(store))
    if status is WAITING:
        store.journal.commit(waiting_for(claimed, add(store)))
    elif status is not RUNNING:
        store.journal.commit(step(claimed, status=status))
    return store.views.turn(claimed.turn.id)


def family(store: Store) -> tuple[ClaimedTurn, list[Turn]]:
    """Return a parent of a pending, a running and a waiting child, and the child of the last."""
    parent = claim(store, add(store))
    news = [child_of(parent.turn) for _ in range(3)]
    store.journal.commit(launching(parent, news))
    children = [store.views.turn(new.id) for new in news]
    claim(store, children[1])
    middle = claim(store, children[2])
    inner = child_of(middle.turn)
    store.journal.commit(launching(middle, [inner]))
    return parent, [*children, store.views.turn(inner.id)]
