"""What the database itself refuses, whoever writes to it."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, text

from runner.core.errors import StoreError
from runner.core.ids import ExecutionId
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import BOB, LEASE, add, claim, step

CLAIMED = "status = 'running', fence = 1, worker_id = 'w', lease_expires_at = created_at"


def change(store: Store, turn: Turn, assignments: str) -> None:
    def work(connection: Connection) -> None:
        connection.execute(
            text(f"UPDATE turns SET {assignments} WHERE id = :id"),  # noqa: S608 - the words below
            {"id": turn.id},
        )

    store.database.write(work)


def claimed_but_for(assignment: str) -> str:
    """Return what makes a turn running, but for one assignment."""
    column = assignment.partition(" ")[0]
    kept = [part for part in CLAIMED.split(", ") if not part.startswith(column)]
    return ", ".join([*kept, assignment])


@pytest.mark.parametrize(
    "assignments",
    [
        pytest.param("status = 'lost'", id="a-status-is-a-known-one"),
        pytest.param("phase = 'lost'", id="a-phase-is-a-known-one"),
        pytest.param("kind = 'lost'", id="a-kind-is-a-known-one"),
        pytest.param(claimed_but_for("fence = 0"), id="a-running-turn-has-a-fence"),
        pytest.param(claimed_but_for("worker_id = NULL"), id="a-running-turn-has-a-worker"),
        pytest.param(claimed_but_for("lease_expires_at = NULL"), id="a-running-turn-has-a-lease"),
        pytest.param("worker_id = 'w'", id="a-pending-turn-has-no-worker"),
        pytest.param("lease_expires_at = created_at", id="a-pending-turn-has-no-lease"),
        pytest.param("status = 'failed'", id="an-ended-turn-has-its-time"),
        pytest.param("ended_at = created_at", id="a-pending-turn-has-not-ended"),
        pytest.param("lane = NULL", id="a-pending-turn-has-a-lane"),
        pytest.param("definition_hash = 'lost'", id="a-definition-is-stored"),
        pytest.param("conversation_id = 'lost'", id="a-conversation-is-stored"),
    ],
)
def test_a_turn_that_makes_no_sense_is_refused(store: Store, assignments: str) -> None:
    turn = add(store)

    with pytest.raises(StoreError):
        change(store, turn, assignments)

    assert store.views.turn(turn.id) == turn


def test_one_turn_of_a_conversation_runs(store: Store) -> None:
    running = claim(store, add(store)).turn
    second = add(store, running.conversation_id)

    with pytest.raises(StoreError):
        change(store, second, CLAIMED)


def test_a_worker_that_meets_a_running_turn_does_not_claim(store: Store) -> None:
    """Were the order of the lanes wrong, the unique index would still hold: that is no claim."""
    first = add(store)
    second = add(store, first.conversation_id)
    claim(store, first)
    change(store, first, "lane = 9")

    assert store.journal.claim(second.id, BOB, lease=LEASE) is None


def test_a_place_in_a_lane_is_taken_once(store: Store) -> None:
    first = add(store)
    second = add(store, first.conversation_id)

    with pytest.raises(StoreError):
        change(store, second, "lane = 1")


def test_a_claimed_turn_satisfies_every_constraint(store: Store) -> None:
    turn = add(store)

    change(store, turn, CLAIMED)

    assert store.views.turn(turn.id).status is TurnStatus.RUNNING


def test_a_message_of_an_unknown_execution_is_refused(store: Store) -> None:
    write = step(claim(store, add(store)), texts=["Hi."])
    stray = replace(write.messages[0], execution_id=ExecutionId("exec_none"))

    with pytest.raises(StoreError):
        store.journal.commit(replace(write, messages=[stray]))
