"""What people say to a running turn: queued in order, taken once, never lost."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from runner.core.coordination import Reach
from runner.core.errors import InputsArrived, InvalidMove, KeyConflict, NotFound
from runner.core.ids import InputId, TurnId
from runner.core.records import ClaimedTurn, StepWrite
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import add, claim, kinds, new_turn, step
from tests.racing import race, unless
from tests.store_helpers import pass_deadline

COMPLETED = TurnStatus.COMPLETED


@pytest.fixture
def claimed(store: Store) -> ClaimedTurn:
    return claim(store, add(store))


def taking(claimed: ClaimedTurn, *inputs: InputId, number: int = 1) -> StepWrite:
    """Describe a step that puts inputs into the transcript."""
    write = step(claimed, number=number, texts=["Steered."] * len(inputs), first_seq=number + 1)
    messages = dict(zip(inputs, [message.id for message in write.messages], strict=True))
    return replace(write, inputs=messages)


def test_inputs_are_queued_in_order(store: Store, claimed: ClaimedTurn) -> None:
    turn_id = claimed.turn.id

    first = store.controls.steer(turn_id, key="a", text="First.")
    second = store.controls.steer(turn_id, key="b", text="Second.")

    assert store.journal.inputs(turn_id) == [first, second]
    assert [(one.position, one.text) for one in (first, second)] == [(1, "First."), (2, "Second.")]
    assert store.views.turn(turn_id).open_inputs == 2
    assert kinds(store, claimed.turn)[-2:] == ["turn.steered"] * 2


def test_the_same_input_again_is_the_first_one(store: Store, claimed: ClaimedTurn) -> None:
    first = store.controls.steer(claimed.turn.id, key="a\x00", text="Go\x00.")

    again = store.controls.steer(claimed.turn.id, key="a\x00", text="Go\x00.")

    assert again == first
    assert store.views.turn(claimed.turn.id).open_inputs == 1


def test_a_key_used_for_another_text_is_refused(store: Store, claimed: ClaimedTurn) -> None:
    store.controls.steer(claimed.turn.id, key="a", text="Secret.")

    with pytest.raises(KeyConflict, match=r"^the key 'a' was used before for something else$"):
        store.controls.steer(claimed.turn.id, key="a", text="Other.")

    assert len(store.journal.inputs(claimed.turn.id)) == 1


def test_two_turns_may_use_the_same_key(store: Store, claimed: ClaimedTurn) -> None:
    other = add(store)

    store.controls.steer(claimed.turn.id, key="a", text="One.")
    second = store.controls.steer(other.id, key="a", text="Two.")

    assert second.position == 1


def test_an_unknown_turn_is_not_steered(store: Store) -> None:
    with pytest.raises(NotFound):
        store.controls.steer(TurnId("turn_none"), key="a", text="Go.")


def test_an_ended_turn_takes_no_input_but_knows_what_it_was_given(
    store: Store, claimed: ClaimedTurn
) -> None:
    given = store.controls.steer(claimed.turn.id, key="a", text="Go.")
    write = taking(claimed, given.id)
    store.journal.commit(replace(write, turn=replace(write.turn, status=COMPLETED)))

    with pytest.raises(InvalidMove, match="has ended as completed and takes no more input"):
        store.controls.steer(claimed.turn.id, key="b", text="Go.")
    again = store.controls.steer(claimed.turn.id, key="a", text="Go.")

    assert replace(again, message_id=None) == given


def test_many_who_steer_at_the_same_time_take_places_without_gaps(
    store: Store, claimed: ClaimedTurn
) -> None:
    def steer(number: int) -> int:
        text = str(number % 10)
        return store.controls.steer(claimed.turn.id, key=text, text=text).position

    with ThreadPoolExecutor(20) as pool:
        positions = list(pool.map(steer, range(20)))

    assert sorted(positions) == sorted([*range(1, 11)] * 2)
    assert store.views.turn(claimed.turn.id).open_inputs == 10


def test_a_step_learns_of_inputs_and_takes_them(store: Store, claimed: ClaimedTurn) -> None:
    given = [store.controls.steer(claimed.turn.id, key=key, text=key) for key in "ab"]

    before = store.journal.commit(step(claimed))
    write = taking(claimed, *(one.id for one in given), number=2)
    after = store.journal.commit(write)

    assert (before.open_inputs, after.open_inputs) == (2, 0)
    assert store.journal.inputs(claimed.turn.id) == []
    taken = store.controls.steer(claimed.turn.id, key="a", text="a")
    assert taken.message_id == write.messages[0].id


def test_an_input_is_taken_once(store: Store, claimed: ClaimedTurn) -> None:
    given = store.controls.steer(claimed.turn.id, key="a", text="Go.")
    store.controls.steer(claimed.turn.id, key="b", text="Go.")
    store.journal.commit(taking(claimed, given.id))

    with pytest.raises(InvalidMove, match="not queued for the turn"):
        store.journal.commit(taking(claimed, given.id, number=2))

    assert store.views.turn(claimed.turn.id).open_inputs == 1


def test_a_turn_does_not_end_while_it_has_input(store: Store, claimed: ClaimedTurn) -> None:
    given = store.controls.steer(claimed.turn.id, key="a", text="Go.")

    with pytest.raises(InputsArrived):
        store.journal.commit(step(claimed, status=COMPLETED))

    assert store.views.turn(claimed.turn.id).status is TurnStatus.RUNNING
    store.journal.commit(taking(claimed, given.id))
    store.journal.commit(step(claimed, number=2, status=COMPLETED))


def test_an_end_and_an_input_at_the_same_moment_lose_nothing(store: Store) -> None:
    """The step that ends the turn is refused, or the input is."""
    for _ in range(50):
        claimed = claim(store, add(store))
        write = step(claimed, status=COMPLETED)
        finish = partial(store.journal.commit, write)
        steer = partial(store.controls.steer, claimed.turn.id, key="a", text="Go.")

        outcomes = race([unless(InputsArrived, finish), unless(InvalidMove, steer)])

        assert sorted(outcomes) == [False, True]


def test_what_a_cancelled_turn_did_not_take_goes_to_its_continuation(
    store: Store, claimed: ClaimedTurn
) -> None:
    given = [store.controls.steer(claimed.turn.id, key=key, text=key) for key in "ab"]
    store.controls.cancel(claimed.turn.id, reach=Reach.RETAIN)
    closing = claim(store, claimed.turn)
    following = new_turn(claimed.turn.conversation_id, text="a b")
    write = replace(
        step(closing, status=TurnStatus.CANCELLED),
        continuation=following,
        inputs={one.id: following.trigger.id for one in given},
    )

    committed = store.journal.commit(write)

    assert committed.wake == (following.id,)
    ended = store.views.turn(claimed.turn.id)
    assert (ended.status, ended.open_inputs) == (TurnStatus.CANCELLED, 0)
    turn = store.views.turn(following.id)
    assert (turn.status, turn.lane, turn.place.is_root) == (TurnStatus.PENDING, 2, True)
    assert store.journal.inputs(ended.id) == []
    assert claim(store, turn).claim.fence == 1


def test_input_of_a_turn_that_never_started_is_passed_on_when_it_is_cancelled(
    store: Store,
) -> None:
    turn = add(store)
    given = store.controls.steer(turn.id, key="a", text="Go.")

    receipts = store.controls.cancel(turn.id, reach=Reach.RETAIN)

    assert receipts.wake == (turn.id,)
    closing = claim(store, turn)
    assert closing.turn.cancel_requested
    assert store.journal.inputs(turn.id) == [given]
    write = taking(closing, given.id)
    store.journal.commit(replace(write, turn=replace(write.turn, status=TurnStatus.CANCELLED)))


@pytest.mark.parametrize("is_paused", [True, False], ids=["paused", "pending"])
def test_an_overdue_turn_with_input_is_left_to_a_worker(store: Store, *, is_paused: bool) -> None:
    turn = add(store)
    given = store.controls.steer(turn.id, key="a", text="Go.")
    if is_paused:
        store.controls.pause(turn.id, reach=Reach.RETAIN)
    pass_deadline(store.database, turn.id)

    assert list(store.sweeps.fail_overdue(limit=10)) == []
    assert list(store.sweeps.release_overdue(limit=10)) == ([turn.id] if is_paused else [])

    write = taking(claim(store, turn), given.id)
    store.journal.commit(replace(write, turn=replace(write.turn, status=TurnStatus.FAILED)))


def test_a_prepared_turn_is_cancelled_at_once_whatever_was_said_to_it(store: Store) -> None:
    turn = add(store, status=TurnStatus.PREPARED)
    store.controls.steer(turn.id, key="a", text="Go.")

    store.controls.cancel(turn.id, reach=Reach.RETAIN)

    assert store.views.turn(turn.id).status is TurnStatus.CANCELLED


def test_a_continuation_stands_behind_what_was_submitted_before(
    store: Store, claimed: ClaimedTurn
) -> None:
    queued = add(store, claimed.turn.conversation_id)
    following = new_turn(claimed.turn.conversation_id)

    committed = store.journal.commit(
        replace(step(claimed, status=COMPLETED), continuation=following)
    )

    assert committed.wake == (queued.id,)
    assert store.views.turn(following.id).lane == 3
    assert list(store.sweeps.due(limit=10, quiet=timedelta(0))) == [queued.id]
