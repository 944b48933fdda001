"""People who cancel, pause and resume turns, at any moment and with whatever is below them."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import Connection, text

from runner.core.coordination import Reach, Receipt, ReceiptState
from runner.core.errors import ClaimLost, InvalidMove, NotFound
from runner.core.ids import TurnId
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import TurnStatus
from runner.core.tree import TreeLimits
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    TIMEOUT,
    add,
    child_of,
    claim,
    end,
    kinds,
    launching,
    step,
    waiting_for,
)
from tests.racing import Act, race, unless

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
