"""Pausing turns and letting them go on."""

import pytest

from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    TIMEOUT,
    add,
    claim,
    end,
    kinds,
    step,
    waiting_for,
)
from tests.integration.store.controlled import (
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
    UNCHANGED,
    WAITING,
    Mark,
    family,
    in_status,
    receipt,
)


@pytest.mark.parametrize("status", [PENDING, WAITING])
def test_what_no_worker_holds_is_paused_at_once(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    receipts = store.controls.pause(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, DONE, PAUSED),)
    assert store.views.turn(turn.id).status is PAUSED
    assert turn.id not in store.sweeps.due(limit=10, quiet=NOW)
    assert store.journal.claim(turn.id, ADA, lease=LEASE) is None
    assert kinds(store, turn)[-1] == "turn.paused"


@pytest.mark.parametrize("status", [PREPARED, RUNNING])
def test_what_cannot_be_paused_now_is_asked_to_pause(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    first, again = (store.controls.pause(turn.id, reach=RETAIN) for _ in range(2))

    assert first.turns == again.turns == (receipt(turn, REQUESTED, status),)
    assert store.views.turn(turn.id).pause_requested
    assert kinds(store, turn).count("turn.pause_requested") == 1


@pytest.mark.parametrize("status", [PAUSED, STALE])
def test_what_waits_for_a_person_already_is_not_paused(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    receipts = store.controls.pause(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, UNCHANGED, status),)


def test_a_turn_that_is_to_be_cancelled_is_not_paused(store: Store) -> None:
    turn = claim(store, add(store)).turn
    store.controls.cancel(turn.id, reach=RETAIN)

    receipts = store.controls.pause(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, UNCHANGED, PENDING),)
    assert store.controls.resume(turn.id, reach=RETAIN).turns[0].state is UNCHANGED


def test_a_turn_paused_before_its_submission_does_not_run_when_it_is_submitted(
    store: Store,
) -> None:
    turn = add(store, status=PREPARED)
    store.controls.pause(turn.id, reach=RETAIN)

    submitted = store.intake.submit(turn.id, timeout=TIMEOUT)

    assert (submitted.status, submitted.lane) == (PAUSED, 1)
    assert list(store.sweeps.due(limit=10, quiet=NOW)) == []
    assert store.controls.resume(turn.id, reach=RETAIN).wake == (turn.id,)
    assert not claim(store, turn).turn.pause_requested


def test_a_step_learns_that_a_pause_was_asked_for(store: Store) -> None:
    claimed = claim(store, add(store))
    store.controls.pause(claimed.turn.id, reach=RETAIN)

    committed = store.journal.commit(step(claimed))

    assert committed.pause_requested
    assert store.views.turn(claimed.turn.id).status is RUNNING
    store.journal.commit(step(claimed, number=2, status=PAUSED))
    assert store.views.turn(claimed.turn.id).status is PAUSED


@pytest.mark.parametrize("wait", [True, False], ids=["waiting", "handed-back"])
def test_a_turn_that_was_asked_to_pause_is_paused_when_its_worker_lets_go(
    store: Store, *, wait: bool
) -> None:
    claimed, awaited = claim(store, add(store)), add(store)
    store.controls.pause(claimed.turn.id, reach=RETAIN)
    write = waiting_for(claimed, awaited) if wait else step(claimed, status=PENDING)

    committed = store.journal.commit(write)

    assert (committed.is_ready, committed.pause_requested) == (False, True)
    paused = store.views.turn(claimed.turn.id)
    assert (paused.status, paused.pause_requested) == (PAUSED, False)
    assert kinds(store, claimed.turn)[-1] == "turn.paused"
    assert claimed.turn.id not in end(store, awaited).wake
    assert store.controls.resume(claimed.turn.id, reach=RETAIN).wake == (claimed.turn.id,)


def test_a_turn_that_was_asked_to_pause_is_paused_when_its_worker_dies(
    store: Store, expire_lease: Mark
) -> None:
    turn = claim(store, add(store)).turn
    store.controls.pause(turn.id, reach=RETAIN)
    expire_lease(turn.id)

    assert list(store.sweeps.release_expired(limit=10)) == []

    assert store.views.turn(turn.id).status is PAUSED
    assert list(store.sweeps.due(limit=10, quiet=NOW)) == []


def test_the_end_of_what_it_waits_for_does_not_unpause_a_turn(store: Store) -> None:
    claimed, awaited = claim(store, add(store)), add(store)
    store.journal.commit(waiting_for(claimed, awaited))
    store.controls.pause(claimed.turn.id, reach=RETAIN)

    assert end(store, awaited).wake == ()
    assert list(store.sweeps.release_joined(limit=10)) == []

    paused = store.views.turn(claimed.turn.id)
    assert (paused.status, paused.open_waits) == (PAUSED, 0)
    assert store.controls.resume(paused.id, reach=RETAIN).turns[0].status is PENDING


def test_a_turn_resumed_while_it_still_has_to_wait_waits_on(store: Store) -> None:
    claimed, awaited = claim(store, add(store)), add(store)
    store.journal.commit(waiting_for(claimed, awaited))
    store.controls.pause(claimed.turn.id, reach=RETAIN)

    receipts = store.controls.resume(claimed.turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(claimed.turn, DONE, WAITING),)
    assert receipts.wake == ()
    assert end(store, awaited).wake == (claimed.turn.id,)


def test_a_stale_turn_goes_on_with_any_worker_once_it_is_resumed(
    store: Store, expire_lease: Mark
) -> None:
    turn = in_status(store, STALE, expire_lease)

    receipts = store.controls.resume(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, DONE, PENDING),)
    claimed = claim(store, turn)
    assert (claimed.turn.is_inline, claimed.claim.fence) == (False, 2)
    expire_lease(turn.id)
    assert list(store.sweeps.release_expired(limit=10)) == [turn.id]


@pytest.mark.parametrize("status", [PREPARED, RUNNING])
def test_a_pause_that_has_not_taken_effect_can_be_taken_back(
    store: Store, expire_lease: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)
    store.controls.pause(turn.id, reach=RETAIN)

    receipts = store.controls.resume(turn.id, reach=RETAIN)

    assert receipts.turns == (receipt(turn, DONE, status),)
    assert not store.views.turn(turn.id).pause_requested
    assert store.controls.resume(turn.id, reach=RETAIN).turns == (receipt(turn, UNCHANGED, status),)


def test_pause_and_resume_with_cascade_reach_everything_below(store: Store) -> None:
    parent, children = family(store)

    paused = store.controls.pause(parent.turn.id, reach=CASCADE)
    states = [store.views.turn(child.id).status for child in children]
    resumed = store.controls.resume(parent.turn.id, reach=CASCADE)

    assert states == [PAUSED, RUNNING, PAUSED, PAUSED]
    assert sorted(r.state for r in paused.turns) == [DONE] * 4 + [REQUESTED]
    assert {r.state for r in resumed.turns} == {DONE}
    after = [store.views.turn(child.id).status for child in children]
    assert after == [PENDING, RUNNING, WAITING, PENDING]
    assert set(resumed.wake) == {children[0].id, children[3].id}
