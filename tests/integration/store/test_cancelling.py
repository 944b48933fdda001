"""Cancelling turns: alone, with all below them, and while more is launched."""

from datetime import timedelta
from functools import partial

import pytest

from runner.core.errors import ClaimLost, InvalidMove
from runner.core.states import TurnStatus
from runner.core.tree import TreeLimits
from runner.store.store import Store
from tests.integration.store.builders import (
    LEASE,
    add,
    child_of,
    claim,
    end,
    kinds,
    step,
    waiting_for,
)
from tests.integration.store.controlled import (
    CANCELLED,
    CASCADE,
    DONE,
    NOW,
    PAUSED,
    PENDING,
    PREPARED,
    REQUESTED,
    RETAIN,
    RUNNING,
    STALE,
    WAITING,
    Mark,
    family,
    in_status,
    receipt,
)
from tests.racing import Act, race, unless


@pytest.mark.parametrize("status", [PREPARED, PENDING])
def test_what_has_not_started_is_cancelled_at_once(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    receipts = store.controls.cancel(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, DONE, CANCELLED),)
    cancelled = store.views.turn(turn.id)
    assert cancelled.status is CANCELLED
    assert cancelled.ended_at is not None
    assert kinds(store, turn)[-1] == "turn.cancelled"


@pytest.mark.parametrize("status", [RUNNING, WAITING, PAUSED, STALE])
def test_what_has_started_is_marked_and_can_be_claimed_to_be_closed(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    receipts = store.controls.cancel(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, REQUESTED, PENDING),)
    assert receipts.wake == (turn.id,)
    marked = store.views.turn(turn.id)
    assert (marked.status, marked.cancel_requested, marked.is_inline) == (PENDING, True, False)
    closing = claim(store, turn)
    assert closing.turn.cancel_requested
    write = step(closing, number=turn.step + 1, status=CANCELLED)
    store.journal.commit(write)
    assert store.views.turn(turn.id).open_waits == 0


def test_a_turn_that_is_to_be_cancelled_does_not_wait_for_its_time(store: Store) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=PENDING, delay=timedelta(hours=1)))

    store.controls.cancel(claimed.turn.id, reach=RETAIN)

    assert list(store.sweeps.due(limit=10, quiet=NOW)) == [claimed.turn.id]


def test_a_cancelled_turns_worker_can_write_no_more(store: Store) -> None:
    claimed = claim(store, add(store))

    store.controls.cancel(claimed.turn.id, reach=RETAIN)

    with pytest.raises(ClaimLost):
        store.journal.commit(step(claimed, texts=["Late."]))
    assert list(store.journal.renew([claimed.claim], lease=LEASE)) == []


def test_cancelling_again_does_not_disturb_whoever_closes_the_turn(store: Store) -> None:
    claimed = claim(store, add(store))
    store.controls.cancel(claimed.turn.id, reach=RETAIN)
    waiting = store.controls.cancel(claimed.turn.id, reach=RETAIN)
    closing = claim(store, claimed.turn)

    receipts = store.controls.cancel(claimed.turn.id, reach=RETAIN)

    assert waiting.turns == (receipt(claimed.turn, REQUESTED, PENDING),)
    assert waiting.wake == (claimed.turn.id,)
    assert receipts.turns == (receipt(claimed.turn, REQUESTED, RUNNING),)
    assert receipts.wake == ()
    store.journal.commit(step(closing, status=CANCELLED))
    assert kinds(store, claimed.turn).count("turn.cancel_requested") == 1


def test_a_closing_whose_worker_died_is_taken_up_again(store: Store, expire_lease: Mark) -> None:
    inline = add(store, status=RUNNING)
    store.controls.cancel(inline.id, reach=RETAIN)
    claim(store, inline)
    expire_lease(inline.id)

    assert list(store.sweeps.release_expired(limit=10)) == [inline.id]
    assert store.views.turn(inline.id).cancel_requested


def test_cancelling_names_who_may_start_and_who_goes_on(store: Store) -> None:
    first = add(store)
    following = add(store, first.conversation_id)
    waiter = claim(store, add(store))
    store.journal.commit(waiting_for(waiter, first))

    receipts = store.controls.cancel(first.id, reach=RETAIN)

    assert set(receipts.wake) == {following.id, waiter.turn.id}
    assert store.views.turn(waiter.turn.id).status is PENDING


def test_a_waiting_turn_that_never_started_lets_go_of_what_it_waited_for(store: Store) -> None:
    awaited = add(store)
    waiter = add(store, awaits=[awaited.id])

    store.controls.cancel(waiter.id, reach=RETAIN)

    assert store.views.turn(awaited.id).waiters == 0
    assert end(store, awaited).wake == ()


def test_cancel_with_cascade_reaches_everything_below_at_once(store: Store) -> None:
    parent, (queued, running, middle, inner) = family(store)

    receipts = store.controls.cancel(parent.turn.id, reach=CASCADE)

    first, *between, last = receipts.turns
    assert (first.turn_id, first.state) == (parent.turn.id, REQUESTED)
    assert set(between) == {
        receipt(queued, DONE, CANCELLED),
        receipt(running, REQUESTED, PENDING),
        receipt(middle, REQUESTED, PENDING),
    }
    assert last == receipt(inner, DONE, CANCELLED)
    assert set(receipts.wake) == {parent.turn.id, running.id, middle.id}
    for turn, number in ((running, 1), (middle, 2), (parent.turn, 2)):
        end(store, turn, number=number, status=CANCELLED)
    tree = store.views.tree(parent.turn.id)
    assert {turn.status for turn in tree} == {CANCELLED}


def test_cancel_without_cascade_leaves_those_below_alone(store: Store) -> None:
    parent, children = family(store)

    store.controls.cancel(parent.turn.id, reach=RETAIN)
    end(store, parent.turn, number=2, status=CANCELLED)

    after = [store.views.turn(child.id) for child in children]
    assert [turn.status for turn in after] == [PENDING, RUNNING, WAITING, PENDING]
    assert [turn.waiters for turn in after] == [0, 0, 0, 1]


def test_cancelling_a_child_leaves_its_siblings_and_parent_alone(store: Store) -> None:
    parent, (queued, running, middle, inner) = family(store)

    receipts = store.controls.cancel(middle.id, reach=CASCADE)
    end(store, middle, number=2, status=CANCELLED)

    assert [r.turn_id for r in receipts.turns] == [middle.id, inner.id]
    assert store.views.turn(queued.id) == queued
    assert store.views.turn(running.id).status is RUNNING
    waiting = store.views.turn(parent.turn.id)
    assert (waiting.status, waiting.open_waits, waiting.cancel_requested) == (WAITING, 2, False)


def test_cascade_passes_through_turns_that_have_ended(store: Store) -> None:
    parent = claim(store, add(store))
    child = store.intake.add(child_of(parent.turn))
    grandchild = store.intake.add(child_of(child))
    end(store, child)

    receipts = store.controls.cancel(parent.turn.id, reach=CASCADE)

    assert [r.turn_id for r in receipts.turns] == [parent.turn.id, grandchild.id]


def test_nothing_launched_by_the_way_escapes_a_cancel(store: Store) -> None:
    """A launch and a cancel with cascade: the launch is refused, or the new turn is reached."""
    limits = TreeLimits(max_children=1000, max_iterations=1000)
    for _ in range(30):
        parent = claim(store, add(store, limits=limits))
        new = child_of(parent.turn)
        launch = unless(InvalidMove, partial(store.intake.add, new))
        cancel = partial(store.controls.cancel, parent.turn.id, reach=CASCADE)

        both: list[Act] = [launch, cancel]

        launched, _ = race(both)

        below = store.views.tree(parent.turn.id)[1:]
        assert [turn.status for turn in below] == ([CANCELLED] if launched else [])
