"""Waits: who goes on when what it waits for has ended, and who may not wait for whom."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from runner.core.coordination import Reach
from runner.core.errors import NotFound, UsageError, WaitCycle
from runner.core.ids import TurnId
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    TIMEOUT,
    add,
    child_of,
    claim,
    end,
    execution,
    kinds,
    launching,
    new_turn,
    step,
    waiting_for,
)
from tests.racing import race, unless
from tests.store_helpers import counting, pass_deadline

PREPARED, PENDING, RUNNING = TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING
WAITING, PAUSED = TurnStatus.WAITING, TurnStatus.PAUSED
COMPLETED = TurnStatus.COMPLETED


def status_of(store: Store, turn: Turn) -> TurnStatus:
    return store.views.turn(turn.id).status


def wait(store: Store, turn: Turn, *awaited: Turn) -> ClaimedTurn:
    """Claim a turn and let it wait for others."""
    claimed = claim(store, turn)
    store.journal.commit(waiting_for(claimed, *awaited))
    return claimed


def test_a_turn_waits_until_the_last_of_what_it_waits_for_has_ended(store: Store) -> None:
    waiter, first, second = add(store), add(store), add(store)
    wait(store, waiter, first, second)

    assert end(store, first).wake == ()
    assert status_of(store, waiter) is WAITING
    assert store.journal.claim(waiter.id, ADA, lease=LEASE) is None
    assert end(store, second, status=TurnStatus.FAILED).wake == (waiter.id,)

    woken = claim(store, waiter)
    assert (woken.turn.open_waits, woken.claim.fence) == (0, 2)


def test_several_turns_may_wait_for_the_same_one(store: Store) -> None:
    awaited, waiters = add(store), [add(store) for _ in range(3)]
    for waiter in waiters:
        wait(store, waiter, awaited)
    assert store.views.turn(awaited.id).waiters == 3

    with counting(store.database) as counts:
        claimed = claim(store, awaited)
    with counting(store.database) as counts:
        committed = store.journal.commit(step(claimed, status=COMPLETED))

    assert set(committed.wake) == {waiter.id for waiter in waiters}
    assert counts.statements == 4
    assert store.views.turn(awaited.id).waiters == 0


def test_a_turn_that_waits_for_what_has_ended_is_ready_at_once(store: Store) -> None:
    waiter, awaited = add(store), add(store)
    end(store, awaited)
    claimed = claim(store, waiter)

    committed = store.journal.commit(waiting_for(claimed, awaited))

    assert committed.is_ready
    turn = store.views.turn(waiter.id)
    assert (turn.status, turn.open_waits, turn.worker_id) == (PENDING, 0, None)
    assert claim(store, waiter).claim.fence == 2


def test_a_turn_waits_only_for_those_that_have_not_ended(store: Store) -> None:
    waiter, over, open_ = add(store), add(store), add(store)
    end(store, over)

    wait(store, waiter, over, open_)

    assert store.views.turn(waiter.id).open_waits == 1
    assert end(store, open_).wake == (waiter.id,)


def test_two_calls_that_wait_for_the_same_turn_are_one_wait(store: Store) -> None:
    waiter, awaited = claim(store, add(store)), add(store)
    runs = [
        replace(execution(waiter.turn, place, ExecutionStatus.WAITING), awaits=(awaited.id,))
        for place in (1, 2)
    ]

    store.journal.commit(step(waiter, status=WAITING, planned=runs))

    assert store.views.turn(waiter.turn.id).open_waits == 1
    assert store.views.turn(awaited.id).waiters == 1
    assert end(store, awaited).wake == (waiter.turn.id,)


def test_a_turn_that_has_open_waits_still_waits_for_each_once(store: Store) -> None:
    waiter, awaited, other = add(store), add(store), add(store)
    wait(store, waiter, awaited)
    store.controls.pause(waiter.id, reach=Reach.RETAIN)
    make_pending = claimed_while_waiting(store, waiter)

    store.journal.commit(waiting_for(make_pending, awaited, other, number=2))

    assert store.views.turn(waiter.id).open_waits == 2
    end(store, awaited)
    assert end(store, other).wake == (waiter.id,)


def claimed_while_waiting(store: Store, turn: Turn) -> ClaimedTurn:
    """Claim a turn although it waits, as happens when its deadline has passed."""
    pass_deadline(store.database, turn.id)
    assert list(store.sweeps.release_overdue(limit=10)) == [turn.id]
    return claim(store, turn)


def test_a_step_that_waits_for_an_unknown_turn_is_not_written(store: Store) -> None:
    waiter, awaited = claim(store, add(store)), add(store)
    unknown = replace(awaited, id=TurnId("turn_none"))

    with pytest.raises(NotFound, match="there is no turn 'turn_none'"):
        store.journal.commit(waiting_for(waiter, awaited, unknown))

    assert store.views.turn(awaited.id).waiters == 0
    assert store.views.turn(waiter.turn.id) == waiter.turn


def test_a_turn_that_ends_before_what_it_waits_for_lets_go_of_it(store: Store) -> None:
    waiter, awaited = add(store), add(store)
    wait(store, waiter, awaited)
    claimed = claimed_while_waiting(store, waiter)

    store.journal.commit(step(claimed, number=2, status=TurnStatus.FAILED))

    assert store.views.turn(awaited.id).waiters == 0
    assert end(store, awaited).wake == ()


def test_a_turn_may_wait_before_it_is_submitted(store: Store) -> None:
    awaited = add(store)
    prepared = add(store, status=PREPARED, awaits=[awaited.id])
    submitted = store.intake.submit(prepared.id, timeout=TIMEOUT)
    assert (prepared.status, submitted.status) == (PREPARED, WAITING)

    assert end(store, awaited).wake == (submitted.id,)
    assert claim(store, submitted).claim.fence == 1


def test_a_prepared_turn_whose_waits_have_ended_is_pending_once_it_is_submitted(
    store: Store,
) -> None:
    awaited = add(store)
    prepared = add(store, status=PREPARED, awaits=[awaited.id])

    assert end(store, awaited).wake == ()
    assert status_of(store, prepared) is PREPARED
    assert store.intake.submit(prepared.id, timeout=TIMEOUT).status is PENDING


def test_a_turn_added_with_waits_begins_as_waiting(store: Store) -> None:
    over, open_ = add(store), add(store)
    end(store, over)

    turn = add(store, awaits=[over.id, open_.id, open_.id])

    assert turn == store.views.turn(turn.id)
    assert (turn.status, turn.open_waits) == (WAITING, 1)
    assert kinds(store, turn) == ["turn.submitted"]
    assert end(store, open_).wake == (turn.id,)


def test_a_turn_added_with_waits_that_are_over_is_pending(store: Store) -> None:
    over = add(store)
    end(store, over)

    assert add(store, awaits=[over.id]).status is PENDING


def test_a_turn_that_waits_cannot_run_at_once(store: Store) -> None:
    awaited = add(store)

    with pytest.raises(UsageError, match="cannot run at once"):
        add(store, status=RUNNING, awaits=[awaited.id])


def test_a_turn_is_not_added_when_what_it_waits_for_is_unknown(store: Store) -> None:
    add(store)
    new = new_turn(awaits=[TurnId("turn_none")])

    with pytest.raises(NotFound):
        store.intake.add(new)

    with pytest.raises(NotFound):
        store.views.conversation(new.conversation_id)


def test_a_turn_cannot_wait_for_itself(store: Store) -> None:
    claimed = claim(store, add(store))
    new = new_turn()

    with pytest.raises(WaitCycle):
        store.journal.commit(waiting_for(claimed, claimed.turn))
    with pytest.raises(WaitCycle):
        store.intake.add(replace(new, awaits=[new.id]))


@pytest.mark.parametrize("length", [2, 3, 7])
def test_a_circle_of_waits_is_refused_with_nothing_stored(store: Store, length: int) -> None:
    turns = [add(store) for _ in range(length)]
    for turn, following in pairwise(turns):
        wait(store, turn, following)
    last = claim(store, turns[-1])

    with pytest.raises(WaitCycle):
        store.journal.commit(waiting_for(last, turns[0]))

    assert store.views.turn(last.turn.id) == last.turn
    assert store.views.turn(turns[0].id).waiters == 0
    assert store.journal.executions(last.turn.id) == []


def test_waits_that_meet_again_are_no_circle(store: Store) -> None:
    top, left, right, bottom = (add(store) for _ in range(4))
    wait(store, left, bottom)
    wait(store, right, bottom)
    wait(store, top, left, right)

    end(store, bottom)
    for turn in (left, right):
        end(store, turn, number=2)
    assert status_of(store, top) is PENDING


def test_a_turn_cannot_wait_for_a_later_one_of_its_conversation(store: Store) -> None:
    first = claim(store, add(store))
    later = [add(store, first.turn.conversation_id) for _ in range(3)]

    with pytest.raises(WaitCycle):
        store.journal.commit(waiting_for(first, later[-1]))


def test_a_circle_through_the_order_of_a_conversation_is_refused(store: Store) -> None:
    first, other = add(store), add(store)
    second = add(store, first.conversation_id)
    wait(store, other, second)
    running = claim(store, first)

    with pytest.raises(WaitCycle):
        store.journal.commit(waiting_for(running, other))


def test_a_later_turn_may_wait_for_an_earlier_one_of_its_conversation(store: Store) -> None:
    first = add(store)

    later = add(store, first.conversation_id, awaits=[first.id])

    assert list(end(store, first).wake) == [later.id]


def test_a_turn_may_wait_for_a_later_one_once_those_between_have_ended(store: Store) -> None:
    first, other = add(store), add(store)
    second = add(store, first.conversation_id)
    end(store, first)

    wait(store, other, second)

    assert status_of(store, other) is WAITING


def test_a_prepared_turn_is_not_submitted_behind_one_that_waits_for_it(store: Store) -> None:
    """Before it had its place, the wait was no circle."""
    waiter = add(store)
    prepared = add(store, waiter.conversation_id, status=PREPARED)
    wait(store, waiter, prepared)

    with pytest.raises(WaitCycle):
        store.intake.submit(prepared.id, timeout=TIMEOUT)

    assert status_of(store, prepared) is PREPARED
    store.controls.cancel(prepared.id, reach=Reach.RETAIN)
    assert status_of(store, waiter) is PENDING


def test_a_child_in_its_parents_own_conversation_cannot_be_waited_for(store: Store) -> None:
    parent = claim(store, add(store))
    behind = child_of(parent.turn)
    home = parent.turn.conversation_id
    behind = replace(
        behind,
        conversation_id=home,
        starts_conversation=False,
        trigger=replace(behind.trigger, conversation_id=home),
    )

    with pytest.raises(WaitCycle):
        store.journal.commit(launching(parent, [behind]))

    with pytest.raises(NotFound):
        store.views.turn(behind.id)
    assert add(store, home).lane == 2


def test_a_child_that_waits_for_its_parent_cannot_be_waited_for(store: Store) -> None:
    parent = claim(store, add(store))

    with pytest.raises(WaitCycle):
        store.journal.commit(launching(parent, [child_of(parent.turn, awaits=[parent.turn.id])]))


def test_a_child_may_wait_for_its_sibling(store: Store) -> None:
    parent = claim(store, add(store))
    first = child_of(parent.turn)
    second = child_of(parent.turn, awaits=[first.id])

    committed = store.journal.commit(launching(parent, [first, second]))

    assert committed.wake == (first.id,)
    assert status_of(store, store.views.turn(second.id)) is WAITING
    assert end(store, store.views.turn(first.id)).wake == (second.id,)
    assert end(store, store.views.turn(second.id)).wake == (parent.turn.id,)


ROUNDS = 100


def opposite(store: Store, pairs: list[tuple[ClaimedTurn, Turn]]) -> list[bool]:
    """Let two turns begin to wait at the same moment, and say which of them could."""
    writes = [waiting_for(waiter, awaited) for waiter, awaited in pairs]
    return race([unless(WaitCycle, partial(store.journal.commit, write)) for write in writes])


def two_turns(store: Store) -> list[tuple[ClaimedTurn, Turn]]:
    first, second = claim(store, add(store)), claim(store, add(store))
    return [(first, second.turn), (second, first.turn)]


def two_lanes(store: Store) -> list[tuple[ClaimedTurn, Turn]]:
    """Each waits for the turn that is behind the other."""
    first, second = claim(store, add(store)), claim(store, add(store))
    behind_first = add(store, first.turn.conversation_id)
    behind_second = add(store, second.turn.conversation_id)
    return [(first, behind_second), (second, behind_first)]


@pytest.mark.parametrize("make", [two_turns, two_lanes])
def test_of_opposite_waits_at_the_same_moment_one_is_refused(
    store: Store, make: Callable[[Store], list[tuple[ClaimedTurn, Turn]]]
) -> None:
    """Two that close a circle together: the second sees the first one's wait."""
    for _ in range(ROUNDS):
        assert sorted(opposite(store, make(store))) == [False, True]


def test_a_turn_that_ends_while_another_begins_to_wait_for_it_is_not_missed(store: Store) -> None:
    """An end and a wait at the same moment: the waiter is woken, or never sleeps."""
    for _ in range(ROUNDS):
        waiter, awaited = claim(store, add(store)), claim(store, add(store))
        writes = [waiting_for(waiter, awaited.turn), step(awaited, status=COMPLETED)]

        race([partial(store.journal.commit, write) for write in writes])

        turn = store.views.turn(waiter.turn.id)
        assert (turn.status, turn.open_waits) == (PENDING, 0)


def test_children_that_end_at_the_same_moment_wake_their_parent_once(store: Store) -> None:
    """The last of them finds the counter at one, whichever it is."""
    for _ in range(10):
        parent = claim(store, add(store))
        children = [child_of(parent.turn) for _ in range(8)]
        store.journal.commit(launching(parent, children))
        claimed = [claim(store, store.views.turn(child.id)) for child in children]

        with ThreadPoolExecutor(8) as pool:
            ends = [step(turn, status=COMPLETED) for turn in claimed]
            wakes = [committed.wake for committed in pool.map(store.journal.commit, ends)]

        assert [wake for wake in wakes if wake] == [(parent.turn.id,)]
        assert status_of(store, parent.turn) is PENDING


def test_a_submission_and_a_wait_for_the_same_turn_close_no_circle(store: Store) -> None:
    """A prepared turn takes its place while somebody ahead of it begins to wait for it."""
    for _ in range(ROUNDS // 4):
        waiter = claim(store, add(store))
        prepared = add(store, waiter.turn.conversation_id, status=PREPARED)
        write = waiting_for(waiter, prepared)
        submit = partial(store.intake.submit, prepared.id, timeout=TIMEOUT)
        begin = partial(store.journal.commit, write)

        outcomes = race([unless(WaitCycle, act) for act in (submit, begin)])

        assert sorted(outcomes) == [False, True]
