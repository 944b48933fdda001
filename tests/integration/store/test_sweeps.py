import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from runner.core.errors import StoreUnavailable
from runner.core.ids import TurnId
from runner.core.states import TurnStatus
from runner.store.database import Database, open_database
from runner.store.store import Store
from tests import store_helpers
from tests.integration.store.builders import ADA, BOB, LEASE, add, claim, kinds, step

Mark = Callable[[str], None]
NOW = timedelta(0)

#: Makes the database refuse every change of one turn.
SPOIL = {
    "sqlite": """
        CREATE TRIGGER spoilt BEFORE UPDATE ON turns WHEN old.id = '{}'
        BEGIN SELECT RAISE(ABORT, 'spoilt'); END
    """,
    "postgresql": """
        CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$;
        CREATE TRIGGER spoilt BEFORE UPDATE ON turns FOR EACH ROW WHEN (old.id = '{}')
        EXECUTE FUNCTION spoil()
    """,
}
MEND = {"sqlite": "DROP TRIGGER spoilt", "postgresql": "DROP FUNCTION spoil CASCADE"}


def execute(database: Database, statement: str) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text(statement))

    database.write(work)


def due(store: Store, quiet: timedelta = NOW) -> list[TurnId]:
    return list(store.sweeps.due(limit=100, quiet=quiet))


def test_a_claim_whose_lease_is_over_is_released_with_its_steps_kept(
    store: Store, expire_lease: Mark
) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, texts=["Hi."]))
    expire_lease(claimed.turn.id)

    assert list(store.sweeps.release_expired(limit=10)) == [claimed.turn.id]

    turn = store.views.turn(claimed.turn.id)
    assert (turn.status, turn.step, turn.fence) == (TurnStatus.PENDING, 1, 1)
    assert (turn.worker_id, turn.lease_expires_at) == (None, None)
    [*_, event] = store.views.events(turn.id)
    assert (event.kind, event.body) == ("turn.released", {"reason": "lease expired"})
    assert due(store) == [turn.id]
    assert claim(store, turn, BOB).claim.fence == 2


def test_a_claim_within_its_lease_is_left_alone(store: Store) -> None:
    claim(store, add(store))

    assert list(store.sweeps.release_expired(limit=10)) == []


def test_expired_claims_are_released_in_batches_oldest_first(
    store: Store, expire_lease: Mark
) -> None:
    turns = [claim(store, add(store)).turn for _ in range(3)]
    for turn in reversed(turns):
        expire_lease(turn.id)

    assert len(store.sweeps.release_expired(limit=2)) == 2
    assert len(store.sweeps.release_expired(limit=2)) == 1


def test_of_several_sweeps_one_releases_a_turn(store: Store, expire_lease: Mark) -> None:
    """Two sweeps: both saw the lease over, and one changes no row."""
    turns = [claim(store, add(store)).turn for _ in range(10)]
    for turn in turns:
        expire_lease(turn.id)

    with ThreadPoolExecutor(4) as pool:
        batches = pool.map(lambda _: store.sweeps.release_expired(limit=100), range(4))
        released = [turn_id for batch in batches for turn_id in batch]

    assert sorted(released) == sorted(turn.id for turn in turns)
    assert all(kinds(store, turn).count("turn.released") == 1 for turn in turns)


def test_a_turn_that_cannot_be_repaired_holds_up_no_other(
    store: Store, expire_lease: Mark, caplog: pytest.LogCaptureFixture
) -> None:
    spoilt, sound = (claim(store, add(store)).turn for _ in range(2))
    for turn in (spoilt, sound):
        expire_lease(turn.id)
    dialect = store.database.engine.dialect.name
    execute(store.database, SPOIL[dialect].format(spoilt.id))

    try:
        with caplog.at_level(logging.ERROR):
            assert list(store.sweeps.release_expired(limit=10)) == [sound.id]
    finally:
        execute(store.database, MEND[dialect])

    assert [record.message for record in caplog.records] == ["a sweep could not repair a turn"]
    assert list(store.sweeps.release_expired(limit=10)) == [spoilt.id]


def test_a_sweep_ends_when_the_database_is_out_of_reach(sqlite_url: str, tmp_path: Path) -> None:
    database = open_database(sqlite_url, busy_timeout=timedelta(milliseconds=50))
    store = Store.over(database)
    turn = claim(store, add(store)).turn
    store_helpers.expire_lease(database, turn.id)
    holder = sqlite3.connect(tmp_path / "runner.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable):
        store.sweeps.release_expired(limit=10)

    holder.close()
    assert list(store.sweeps.release_expired(limit=10)) == [turn.id]
    store.close()


def test_a_sweep_does_not_wait_for_a_turn_that_is_being_written(postgres_url: str) -> None:
    """A worker that commits at this moment holds the row; the sweep passes it over."""
    database, other = open_database(postgres_url), open_database(postgres_url)
    store = Store.over(database)
    turn = claim(store, add(store)).turn
    store_helpers.expire_lease(database, turn.id)

    with other.engine.begin() as connection:
        connection.execute(text("SELECT 1 FROM turns FOR UPDATE"))
        assert list(store.sweeps.release_expired(limit=10)) == []

    assert list(store.sweeps.release_expired(limit=10)) == [turn.id]
    database.close()
    other.close()


def test_a_turn_that_never_started_before_its_deadline_fails(
    store: Store, pass_deadline: Mark
) -> None:
    turn = add(store)
    pass_deadline(turn.id)

    assert list(store.sweeps.fail_overdue(limit=10)) == []

    failed = store.views.turn(turn.id)
    assert failed.status is TurnStatus.FAILED
    assert failed.error is not None
    assert (failed.error.code, failed.error.details) == ("limit", {"path": "limits.timeout"})
    assert failed.error.message.startswith("limits.timeout: ")
    assert failed.ended_at is not None
    assert kinds(store, turn)[-1] == "turn.failed"
    assert [message.seq for message in store.views.messages(turn.conversation_id)] == [None]


def test_failing_an_overdue_turn_names_those_that_may_start_now(
    store: Store, pass_deadline: Mark
) -> None:
    first = add(store)
    second = add(store, first.conversation_id)
    third = add(store, first.conversation_id)
    for turn in (first, second):
        pass_deadline(turn.id)

    assert list(store.sweeps.fail_overdue(limit=10)) == [third.id]


def test_an_overdue_turn_behind_a_running_one_fails_and_names_nobody(
    store: Store, pass_deadline: Mark
) -> None:
    running = claim(store, add(store))
    waiting = add(store, running.turn.conversation_id)
    pass_deadline(waiting.id)

    assert list(store.sweeps.fail_overdue(limit=10)) == []
    assert store.views.turn(waiting.id).status is TurnStatus.FAILED
    assert store.views.turn(running.turn.id).status is TurnStatus.RUNNING


def test_an_overdue_turn_that_has_started_is_left_to_a_worker(
    store: Store, pass_deadline: Mark
) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING))
    pass_deadline(claimed.turn.id)

    store.sweeps.fail_overdue(limit=10)

    assert store.views.turn(claimed.turn.id).status is TurnStatus.PENDING


def test_due_are_the_pending_turns_that_are_first_in_their_lanes(store: Store) -> None:
    first = add(store)
    add(store, first.conversation_id)
    add(store, status=TurnStatus.PREPARED)
    claim(store, add(store))
    other = add(store)

    assert due(store) == [first.id, other.id]


def test_a_turn_that_only_just_became_due_is_not_yet_swept_up(store: Store) -> None:
    turn = add(store)

    assert due(store, quiet=timedelta(minutes=1)) == []
    assert due(store) == [turn.id]


def test_a_turn_is_due_once_its_time_has_come(store: Store, make_due: Mark) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(hours=1)))

    assert due(store) == []
    make_due(claimed.turn.id)
    assert due(store) == [claimed.turn.id]


def test_a_turn_is_due_once_its_deadline_has_passed(store: Store, pass_deadline: Mark) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(hours=1)))
    pass_deadline(claimed.turn.id)

    assert due(store) == [claimed.turn.id]


def test_due_turns_come_in_batches_oldest_first(store: Store) -> None:
    turns = [add(store) for _ in range(3)]

    assert list(store.sweeps.due(limit=2, quiet=NOW)) == [turn.id for turn in turns[:2]]


def test_somebody_is_responsible_for_every_turn_of_a_sound_store(store: Store) -> None:
    add(store)
    add(store, status=TurnStatus.PREPARED)
    claim(store, add(store), ADA)
    store.journal.commit(step(claim(store, add(store)), status=TurnStatus.PAUSED))
    store.journal.commit(step(claim(store, add(store)), status=TurnStatus.COMPLETED))

    assert list(store.sweeps.unattended(limit=10)) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        pytest.param("due_at = NULL", "pending without a due time", id="pending"),
        pytest.param("status = 'waiting'", "waiting for nothing", id="waiting"),
    ],
)
def test_a_turn_nobody_is_responsible_for_is_found(
    database: Database, change: str, fault: str
) -> None:
    store = Store.over(database)
    turn = add(store)
    execute(database, f"UPDATE turns SET {change}")  # noqa: S608 - the words above

    assert list(store.sweeps.unattended(limit=10)) == [(turn.id, fault)]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        pytest.param("lane = NULL", "pending without a place in its lane", id="no-lane"),
        pytest.param("status = 'running'", "running without a worker and a lease", id="no-lease"),
    ],
)
def test_what_the_database_should_have_refused_is_found(
    sqlite_url: str, change: str, fault: str
) -> None:
    database = open_database(sqlite_url)
    store = Store.over(database)
    turn = add(store)
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        connection.exec_driver_sql(f"UPDATE turns SET {change}")  # noqa: S608 - the words above
        connection.commit()

    assert list(store.sweeps.unattended(limit=10)) == [(turn.id, fault)]
    database.close()


def test_a_lease_is_not_taken_from_a_worker_that_renewed_it(
    store: Store, expire_lease: Mark
) -> None:
    claimed = claim(store, add(store))
    expire_lease(claimed.turn.id)
    store.journal.renew([claimed.claim], lease=LEASE)

    assert list(store.sweeps.release_expired(limit=10)) == []
    store.journal.commit(step(claimed))
