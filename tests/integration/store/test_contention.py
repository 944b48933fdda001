"""Many threads at once, on few connections."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from runner.core.ids import TurnId, WorkerId
from runner.core.states import TurnStatus
from runner.store.database import open_database
from runner.store.store import Store
from tests.integration.store.builders import LEASE, TIMEOUT, add, new_turn, step

THREADS = 40


def test_many_submitters_of_one_conversation_take_its_places_without_gaps(store: Store) -> None:
    """Forty submitters: each takes its lane under the conversation's lock."""
    conversation_id = add(store).conversation_id
    prepared = [add(store, conversation_id, status=TurnStatus.PREPARED) for _ in range(THREADS)]

    def submit(number: int) -> list[int | None]:
        submitted = store.intake.submit(prepared[number].id, timeout=TIMEOUT)
        return [submitted.lane, store.intake.add(new_turn(conversation_id)).lane]

    with ThreadPoolExecutor(THREADS) as pool:
        lanes = [lane for pair in pool.map(submit, range(THREADS)) for lane in pair]

    assert sorted(lane or 0 for lane in lanes) == list(range(2, 2 * THREADS + 2))


def test_a_prepared_turn_submitted_by_many_takes_one_place(store: Store) -> None:
    """Many submitters of one turn: the lanes of those that lose are rolled back."""
    prepared = add(store, status=TurnStatus.PREPARED)

    with ThreadPoolExecutor(THREADS) as pool:
        turns = list(
            pool.map(lambda _: store.intake.submit(prepared.id, timeout=TIMEOUT), range(THREADS))
        )

    assert {turn.lane for turn in turns} == {1}
    assert add(store, prepared.conversation_id).lane == 2


def test_a_definition_saved_by_many_is_stored_once(store: Store) -> None:
    def save(number: int) -> None:
        store.intake.save_definition(content_hash="h", kind="agent", name="a", body=str(number))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(save, range(THREADS)))

    assert store.intake.definition("h").isdigit()


def test_workers_on_two_connections_finish_every_turn_in_order(database_url: str) -> None:
    """Workers race for the same turns, and each conversation is served one turn at a time."""
    database = open_database(database_url, pool_size=2, busy_timeout=timedelta(minutes=1))
    store = Store.over(database)
    conversations = [add(store).conversation_id for _ in range(6)]
    for conversation_id in conversations * 3:
        add(store, conversation_id)

    def work(number: int) -> int:
        worker_id, done = WorkerId(f"worker_{number}"), 0
        while ids := store.sweeps.due(limit=10, quiet=timedelta(0)):
            done += sum(finish(turn_id, worker_id) for turn_id in ids)
        return done

    def finish(turn_id: TurnId, worker_id: WorkerId) -> bool:
        claimed = store.journal.claim(turn_id, worker_id, lease=LEASE)
        if claimed is None:
            return False
        seq = len(store.journal.transcript(claimed.turn.conversation_id)) + 1
        store.journal.commit(
            step(claimed, status=TurnStatus.COMPLETED, texts=["Done."], first_seq=seq)
        )
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(work, range(16))) == 24

    for conversation_id in conversations:
        transcript = store.journal.transcript(conversation_id)
        assert [message.seq for message in transcript] == list(range(1, 9))
    assert store.views.counts() == {}
    database.close()
