"""Many threads at once, on few connections."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from runner.core.errors import LimitReached
from runner.core.ids import TurnId, WorkerId
from runner.core.records import ClaimedTurn
from runner.core.states import TurnStatus
from runner.core.tree import Reservation, TreeLimits
from runner.store.database import open_database
from runner.store.store import Store
from tests.integration.store.builders import (
    LEASE,
    TIMEOUT,
    add,
    child_of,
    claim,
    launching,
    new_turn,
    step,
)

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


def test_a_limit_of_a_tree_is_never_overshot_however_many_take_from_it(store: Store) -> None:
    """Thirty children race: each takes what it can in one statement at the root."""
    limits = TreeLimits(
        max_iterations=90,
        max_tool_executions=25,
        max_tool_executions_by_name={"search": 10},
        max_children=30,
    )
    root = claim(store, add(store, limits=limits))
    children = [child_of(root.turn) for _ in range(30)]
    store.journal.commit(launching(root, children))
    claimed = [claim(store, store.views.turn(child.id)) for child in children]

    def take(turn: ClaimedTurn) -> Counter[str]:
        taken, number = Counter[str](), 0
        for wanted in (
            Reservation(iterations=1, tool_executions=1, by_name={"search": 1}),
            Reservation(iterations=1, tool_executions=1, by_name={"search": 1}),
            Reservation(tool_executions=1),
            Reservation(iterations=1),
        ):
            try:
                store.journal.commit(replace(step(turn, number=number + 1), reserve=wanted))
            except LimitReached:
                continue
            number += 1
            taken["iterations"] += wanted.iterations
            taken["tool_executions"] += wanted.tool_executions
            taken["search"] += sum(wanted.by_name.values())
        return taken

    with ThreadPoolExecutor(30) as pool:
        total = sum(pool.map(take, claimed), Counter[str]())

    use = store.views.turn(root.turn.id).use
    assert use.children == 30
    assert use.iterations == 31 + total["iterations"] <= limits.max_iterations
    assert use.tool_executions == total["tool_executions"] == limits.max_tool_executions
    assert total["search"] == 10


def test_children_added_at_the_same_time_never_outnumber_the_limit(store: Store) -> None:
    limits = TreeLimits(max_children=7)
    root = claim(store, add(store, limits=limits)).turn

    def attempt(_: int) -> bool:
        try:
            store.intake.add(child_of(root))
        except LimitReached:
            return False
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        added = sum(pool.map(attempt, range(THREADS)))

    assert added == store.views.turn(root.id).use.children == 7
    assert len(store.views.tree(root.id)) == 8
