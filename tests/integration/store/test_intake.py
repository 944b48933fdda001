from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from runner.core.errors import (
    ConflictError,
    ConversationBusy,
    InvalidMove,
    NotFound,
    UsageError,
)
from runner.core.ids import new_conversation_id, new_turn_id
from runner.core.messages import Role, Text
from runner.core.records import NewTurn
from runner.core.states import Phase, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    DEFINITION,
    LEASE,
    TIMEOUT,
    add,
    claim,
    kinds,
    new_turn,
    step,
)
from tests.store_helpers import counting

PREPARED, PENDING, RUNNING = TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING


def with_definition(store: Store, new: NewTurn) -> NewTurn:
    store.intake.save_definition(content_hash=DEFINITION, kind="agent", name="writer", body="{}")
    return new


def test_a_definition_is_read_back_as_it_was_saved(store: Store) -> None:
    store.intake.save_definition(content_hash="h", kind="agent", name="a", body='{"x":"é"}')

    assert store.intake.definition("h") == '{"x":"é"}'


def test_a_definition_is_stored_once(store: Store) -> None:
    store.intake.save_definition(content_hash="h", kind="agent", name="a", body="first")
    store.intake.save_definition(content_hash="h", kind="agent", name="a", body="second")

    assert store.intake.definition("h") == "first"


def test_an_unknown_definition_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="no definition is stored under 'h'"):
        store.intake.definition("h")


def test_a_pending_turn_is_stored_with_its_trigger_first_in_a_new_conversation(
    store: Store,
) -> None:
    new = with_definition(store, new_turn(text="Write.", context={"page": 1}))

    turn = store.intake.add(new)

    assert turn == store.views.turn(new.id)
    assert (turn.status, turn.phase, turn.lane) == (PENDING, Phase.MODEL, 1)
    assert (turn.fence, turn.step, turn.claims, turn.iterations) == (0, 0, 0, 1)
    assert turn.context == {"page": 1}
    assert turn.created_at is not None
    assert turn.deadline_at is not None
    assert turn.deadline_at - turn.created_at == pytest.approx(TIMEOUT, abs=timedelta(seconds=5))
    assert turn.created_at.tzinfo is UTC
    [trigger] = store.views.messages(new.conversation_id)
    assert (trigger.seq, trigger.role, trigger.parts) == (None, Role.USER, (Text(text="Write."),))
    assert store.views.conversation(new.conversation_id).agent == "writer"
    assert kinds(store, turn) == ["turn.submitted"]


def test_a_prepared_turn_has_no_place_and_no_deadline(store: Store) -> None:
    turn = add(store, status=PREPARED)

    assert (turn.status, turn.lane, turn.deadline_at) == (PREPARED, None, None)
    assert store.journal.claim(turn.id, ADA, lease=LEASE) is None
    assert kinds(store, turn) == ["turn.prepared"]


def test_a_turn_added_as_running_is_claimed_and_its_trigger_has_its_place(store: Store) -> None:
    turn = add(store, status=RUNNING)

    assert (turn.status, turn.fence, turn.claims, turn.worker_id) == (RUNNING, 1, 1, ADA)
    assert turn.lease_expires_at is not None
    assert turn.started_at is not None
    assert [message.seq for message in store.journal.transcript(turn.conversation_id)] == [1]
    assert kinds(store, turn) == ["turn.started"]


def test_a_turn_that_runs_at_once_follows_what_its_conversation_holds(store: Store) -> None:
    first = claim(store, add(store))
    store.journal.commit(step(first, status=TurnStatus.COMPLETED, texts=["Hi."]))

    turn = add(store, first.turn.conversation_id, status=RUNNING)

    assert turn.lane == 2
    places = [message.seq for message in store.journal.transcript(turn.conversation_id)]
    assert places == [1, 2, 3]


def test_a_turn_cannot_run_at_once_while_an_earlier_one_is_live(store: Store) -> None:
    earlier = add(store)

    with pytest.raises(ConversationBusy, match=f"turn '{earlier.id}'"):
        add(store, earlier.conversation_id, status=RUNNING)

    assert add(store, earlier.conversation_id).lane == 2


@pytest.mark.parametrize("status", [PREPARED, PENDING, RUNNING])
def test_a_turn_of_an_unknown_conversation_is_refused(store: Store, status: TurnStatus) -> None:
    with pytest.raises(NotFound, match="there is no conversation"):
        add(store, new_conversation_id(), status=status)


def test_a_turn_whose_definition_is_not_stored_is_refused(store: Store) -> None:
    with pytest.raises(NotFound, match="no definition is stored under"):
        store.intake.add(new_turn())

    assert store.views.counts() == {}


def test_a_conversation_is_not_begun_twice(store: Store) -> None:
    conversation_id = add(store).conversation_id
    again = new_turn()
    again = replace(again, conversation_id=conversation_id)

    with pytest.raises(ConflictError, match="does not fit what is already stored"):
        store.intake.add(again)


def test_adding_the_same_turn_again_returns_the_stored_one(store: Store) -> None:
    new = with_definition(store, new_turn())

    assert store.intake.add(new) == store.intake.add(new)


def test_a_new_turn_has_not_ended(store: Store) -> None:
    with pytest.raises(UsageError, match="a new turn cannot be completed"):
        add(store, status=TurnStatus.COMPLETED)


def test_a_turn_that_runs_at_once_needs_a_worker(store: Store) -> None:
    new = new_turn(status=RUNNING)
    new = replace(new, worker_id=None)

    with pytest.raises(UsageError, match="needs a worker and a lease"):
        store.intake.add(new)


def test_a_prepared_turn_takes_the_last_place_when_it_is_submitted(store: Store) -> None:
    prepared = add(store, status=PREPARED)
    second = add(store, prepared.conversation_id)

    turn = store.intake.submit(prepared.id, timeout=timedelta(minutes=1))

    assert (second.lane, turn.lane, turn.status) == (1, 2, PENDING)
    assert turn.deadline_at is not None
    assert kinds(store, turn) == ["turn.prepared", "turn.submitted"]
    assert store.journal.claim(turn.id, ADA, lease=LEASE) is None


def test_submitting_again_changes_nothing(store: Store) -> None:
    turn = add(store)

    assert store.intake.submit(turn.id, timeout=timedelta(hours=9)) == turn
    assert add(store, turn.conversation_id).lane == 2


def test_a_turn_that_has_ended_cannot_be_submitted(store: Store) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.COMPLETED))

    with pytest.raises(InvalidMove, match="a completed turn cannot become pending"):
        store.intake.submit(claimed.turn.id, timeout=TIMEOUT)


def test_an_unknown_turn_cannot_be_submitted(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no turn"):
        store.intake.submit(new_turn_id(), timeout=TIMEOUT)


@pytest.mark.parametrize("status", [PREPARED, PENDING, RUNNING])
def test_a_turn_is_stored_by_four_statements_and_one_commit(
    store: Store, status: TurnStatus
) -> None:
    new = with_definition(store, new_turn(status=status))

    with counting(store.database) as counts:
        store.intake.add(new)

    assert counts.statements <= 4
    assert counts.commits == 1
