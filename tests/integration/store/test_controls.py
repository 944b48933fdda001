"""People who cancel, pause and resume turns, at any moment and with whatever is below them."""

from functools import partial

import pytest
from sqlalchemy import Connection, text

from runner.core.coordination import Reach
from runner.core.errors import ClaimLost, NotFound
from runner.core.ids import TurnId
from runner.core.states import TurnStatus
from runner.core.tree import TreeLimits
from runner.store.store import Store
from tests.integration.store.builders import (
    add,
    child_of,
    claim,
    end,
    launching,
    step,
    waiting_for,
)
from tests.integration.store.controlled import (
    CANCELLED,
    CASCADE,
    COMPLETED,
    NOW,
    PAUSED,
    RETAIN,
    STALE,
    UNCHANGED,
    WAITING,
    Mark,
    family,
    in_status,
    receipt,
)
from tests.racing import Act, race, unless

ALL = [status for status in TurnStatus if not status.is_ended]


@pytest.mark.parametrize("control", ["cancel", "pause", "resume"])
def test_an_unknown_turn_is_not_found(store: Store, control: str) -> None:
    act = getattr(store.controls, control)

    for reach in Reach:
        with pytest.raises(NotFound, match="there is no turn 'turn_none'"):
            act(TurnId("turn_none"), reach=reach)


@pytest.mark.parametrize("control", ["cancel", "pause", "resume"])
@pytest.mark.parametrize("status", [COMPLETED, TurnStatus.FAILED, CANCELLED])
def test_an_ended_turn_is_left_as_it_is(
    store: Store, expire_lease: Mark, control: str, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)

    receipts = getattr(store.controls, control)(turn.id, reach=CASCADE)

    assert receipts.turns == (receipt(turn, UNCHANGED, status),)
    assert receipts.wake == ()
    assert store.views.turn(turn.id) == turn


@pytest.mark.parametrize("control", ["cancel", "pause"])
def test_a_control_reaches_what_is_launched_at_the_same_moment(store: Store, control: str) -> None:
    """A step and a control with cascade: the step is refused, or its children are reached."""
    limits = TreeLimits(max_children=1000, max_iterations=1000)
    for _ in range(30):
        parent = claim(store, add(store, limits=limits))
        write = launching(parent, [child_of(parent.turn) for _ in range(3)])
        launch = unless(ClaimLost, partial(store.journal.commit, write))
        act = partial(getattr(store.controls, control), parent.turn.id, reach=CASCADE)
        both: list[Act] = [launch, act]

        race(both)

        top, *below = store.views.tree(parent.turn.id)
        if control == "cancel":
            assert top.cancel_requested
            assert {turn.status for turn in below} <= {CANCELLED}
        else:
            assert top.status is PAUSED


@pytest.mark.parametrize("status", [WAITING, PAUSED, STALE])
def test_a_started_turn_past_its_deadline_is_made_pending_whatever_it_waits_for(
    store: Store, expire_lease: Mark, pass_deadline: Mark, status: TurnStatus
) -> None:
    turn = in_status(store, status, expire_lease)
    pass_deadline(turn.id)

    assert list(store.sweeps.release_overdue(limit=10)) == [turn.id]
    assert list(store.sweeps.release_overdue(limit=10)) == []

    late = claim(store, turn)
    assert late.seconds_left < 0
    store.journal.commit(step(late, number=turn.step + 1, status=TurnStatus.FAILED))


def test_a_turn_with_time_left_is_not_hurried(store: Store, expire_lease: Mark) -> None:
    for status in (WAITING, PAUSED, STALE):
        in_status(store, status, expire_lease)

    assert list(store.sweeps.release_overdue(limit=10)) == []


@pytest.mark.parametrize("halt", ["paused", "waiting"])
def test_a_turn_that_never_started_before_its_deadline_fails_though_it_was_held_up(
    store: Store, pass_deadline: Mark, halt: str
) -> None:
    awaited = add(store)
    turn = add(store, awaits=[awaited.id] if halt == "waiting" else [])
    if halt == "paused":
        store.controls.pause(turn.id, reach=RETAIN)
    waiter = claim(store, add(store))
    store.journal.commit(waiting_for(waiter, turn))
    pass_deadline(turn.id)

    assert list(store.sweeps.fail_overdue(limit=10)) == [waiter.turn.id]

    assert store.views.turn(turn.id).status is TurnStatus.FAILED
    assert store.views.turn(awaited.id).waiters == 0


def test_a_turn_whose_waits_were_lost_is_found_and_goes_on(store: Store) -> None:
    waiter, awaited = claim(store, add(store)), add(store)
    store.journal.commit(waiting_for(waiter, awaited))

    def lose(connection: Connection) -> None:
        connection.execute(text("UPDATE turns SET waiters = 0"))

    store.database.write(lose)
    end(store, awaited)
    assert list(store.sweeps.unattended(limit=10)) == [(waiter.turn.id, "waiting for nothing")]

    assert list(store.sweeps.release_joined(limit=10)) == [waiter.turn.id]

    assert claim(store, waiter.turn).turn.open_waits == 0
    assert list(store.sweeps.release_joined(limit=10)) == []


def test_a_turn_that_was_cancelled_and_put_aside_is_found(store: Store) -> None:
    claimed = claim(store, add(store))
    store.controls.cancel(claimed.turn.id, reach=RETAIN)
    closing = claim(store, claimed.turn)
    store.journal.commit(step(closing, status=PAUSED))

    [(turn_id, fault)] = store.sweeps.unattended(limit=10)

    assert (turn_id, fault) == (claimed.turn.id, "to be cancelled, and not pending")
    store.controls.cancel(claimed.turn.id, reach=RETAIN)
    end(store, claimed.turn, number=2, status=CANCELLED)


def test_controls_race_with_workers_and_ends_without_leaving_a_turn_behind(store: Store) -> None:
    """Cancels, pauses, resumes and steps of a family at the same time deadlock nobody for ever."""
    for _ in range(5):
        parent, children = family(store)
        acts = [
            partial(store.controls.pause, parent.turn.id, reach=CASCADE),
            partial(store.controls.resume, parent.turn.id, reach=CASCADE),
            partial(store.controls.cancel, parent.turn.id, reach=CASCADE),
            partial(store.controls.cancel, children[2].id, reach=CASCADE),
        ]
        race(acts * 2)
        store.controls.resume(parent.turn.id, reach=CASCADE)
        store.controls.cancel(parent.turn.id, reach=CASCADE)

        while pending := store.sweeps.due(limit=10, quiet=NOW):
            for turn_id in pending:
                turn = store.views.turn(turn_id)
                end(store, turn, number=turn.step + 1, status=CANCELLED)

        assert {turn.status for turn in store.views.tree(parent.turn.id)} == {CANCELLED}
