"""How statements are carried out when history is long: without reading what has ended."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, event, text

from runner.core.coordination import Reach
from runner.core.ports import TurnFilter
from runner.core.states import LIVE, TurnStatus
from runner.store.database import Database
from runner.store.store import Store
from tests.integration.store.builders import (
    BOB,
    LEASE,
    TIMEOUT,
    add,
    child_of,
    claim,
    launching,
    new_turn,
    step,
    waiting_for,
)
from tests.store_helpers import expire_lease, pass_deadline

ENDED = 100_000
CONVERSATIONS = 100

#: Rows that a statement may look at, of which there are a few dozen that have not ended.
FEW = 200

#: Indexes that may be read from one end: those without ended turns, and one that a limit bounds.
BOUNDED = (
    "due_turns",
    "live_turns",
    "overdue_halted_turns",
    "overdue_turns",
    "owed_callbacks",
    "turns_by_age",
)

NUMBERS = {
    "sqlite": """
        WITH RECURSIVE numbers(n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :ended)
    """,
    "postgresql": "WITH numbers AS (SELECT generate_series(1, :ended) AS n)",
}
HISTORY = """
    INSERT INTO turns (id, conversation_id, agent, definition_hash, kind, status, phase, lane,
        fence, step, claims, iterations, tool_executions, attempts, usage, context, metadata,
        deadline_at, created_at, started_at, ended_at, root_id, depth, hops, tree_limits,
        use_iterations, use_tool_executions, use_children, open_waits, waiters, open_inputs,
        pause_requested, cancel_requested, is_inline, cost, unpriced_requests)
    {numbers}
    SELECT 'turn_old_' || n, c.id, c.agent, d.content_hash, 'chat',
        CASE n % 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'failed' ELSE 'cancelled' END, 'model',
        1000000 + n, 1, 1, 0, 1, 0, 0, '{{}}', '{{}}', '{{}}',
        c.created_at, c.created_at, c.created_at, c.created_at, 'turn_old_' || n, 0, 0, '{{}}',
        1, 0, 0, 0, 0, 0, false, false, false, 0, 0
    FROM numbers
    JOIN definitions d ON true
    JOIN (SELECT *, row_number() OVER (ORDER BY id) AS place FROM conversations) c
        ON c.place = 1 + n % :conversations
"""

OLD_WAITS = """
    INSERT INTO waits (waiter_id, awaited_id, created_at, ended_at)
    SELECT w.id, a.id, w.created_at, w.created_at FROM turns w JOIN turns a ON a.id = w.root_id
    WHERE w.ended_at IS NOT NULL
"""

#: What statements call the tables that grow with history.
GROWING = (
    "turns",
    "earlier",
    "waits",
    "awaited",
    "ahead_in_lane",
    "next_turn",
    "child_turn",
    "parent_turn",
)

Statements = list[tuple[str, Mapping[str, object] | tuple[object, ...]]]


@pytest.fixture
def old_store(store: Store) -> Store:
    """A store with a hundred thousand ended turns and a few that have not."""
    for _ in range(CONVERSATIONS):
        turn = add(store)
        store.journal.commit(step(claim(store, turn), status=TurnStatus.COMPLETED))
    dialect = store.database.engine.dialect.name
    statement = text(HISTORY.format(numbers=NUMBERS[dialect]))
    amounts = {"ended": ENDED, "conversations": CONVERSATIONS}

    def fill(connection: Connection) -> None:
        connection.execute(statement, amounts)
        connection.execute(text(OLD_WAITS))
        connection.exec_driver_sql("ANALYZE")

    store.database.write(fill)
    return store


@contextmanager
def recorded(database: Database) -> Iterator[Statements]:
    statements: Statements = []

    def on_statement(
        _connection: Connection, _cursor: object, statement: str, parameters: object, *_: object
    ) -> None:
        # What is inserted is looked up by its references' keys alone, and cannot be inserted twice.
        if ("turns" in statement or "waits" in statement) and not statement.startswith("INSERT"):
            assert isinstance(parameters, Mapping | tuple)
            statements.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", on_statement)
    yield statements
    event.remove(database.engine, "before_cursor_execute", on_statement)


def rows_read(node: Mapping[str, object]) -> Iterator[int]:
    """Count what each part of a PostgreSQL plan read of turns and waits."""
    if node.get("Relation Name") in {"turns", "waits"}:
        rows, removed = node["Actual Rows"], node.get("Rows Removed by Filter", 0)
        assert isinstance(rows, int | float)
        assert isinstance(removed, int | float)
        yield int(rows + removed)
    plans = node.get("Plans", [])
    assert isinstance(plans, list)
    for plan in plans:
        yield from rows_read(plan)


def assert_few_rows_are_read(database: Database, statements: Statements) -> None:
    for statement, parameters in statements:
        with database.engine.connect() as connection:
            plan = connection.exec_driver_sql(
                f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters
            ).scalar_one()
            connection.rollback()
        [root] = plan if isinstance(plan, list) else json.loads(plan)
        assert max(rows_read(root["Plan"]), default=0) <= FEW, (statement, plan)


def assert_history_is_not_scanned(database: Database, statements: Statements) -> None:
    """Hold SQLite's plan against the two ways that would read ended turns: no index, no bound."""
    for statement, parameters in statements:
        with database.engine.connect() as connection:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
        for row in rows:
            detail = str(row[-1])
            unbounded = any(detail.startswith(f"SCAN {name}") for name in GROWING)
            assert not unbounded or any(name in detail for name in BOUNDED), (statement, detail)


def assert_history_stays_unread(database: Database, statements: Statements) -> None:
    assert statements
    if database.engine.dialect.name == "sqlite":
        assert_history_is_not_scanned(database, statements)
    else:
        assert_few_rows_are_read(database, statements)


def test_neither_claims_nor_sweeps_nor_lists_read_what_has_ended(old_store: Store) -> None:
    store, journal, sweeps = old_store, old_store.journal, old_store.sweeps
    live = [add(store) for _ in range(8)]
    following = add(store, live[0].conversation_id)
    old_conversation = store.views.turns(TurnFilter(limit=30))[-1].conversation_id
    in_old = add(store, old_conversation)
    expired, overdue = claim(store, live[6]).turn, live[7]
    expire_lease(store.database, expired.id)
    pass_deadline(store.database, overdue.id)

    with recorded(store.database) as statements:
        claimed = claim(store, live[0])
        claim(store, in_old, BOB)
        sweeps.release_expired(limit=50)
        journal.renew([claimed.claim], lease=LEASE)
        sweeps.fail_overdue(limit=50)
        sweeps.due(limit=50, quiet=timedelta(0))
        sweeps.unattended(limit=50)
        committed = journal.commit(step(claimed, status=TurnStatus.COMPLETED))
        store.views.counts()
        store.views.turns(TurnFilter())
        store.views.turns(TurnFilter(statuses=LIVE))
        store.views.turns(TurnFilter(statuses=[TurnStatus.PENDING]))
        store.views.turn(in_old.id)

    assert committed.wake == (following.id,)
    assert len(statements) >= 10
    assert_history_stays_unread(store.database, statements)


def test_neither_trees_nor_waits_read_what_has_ended(old_store: Store) -> None:
    store, journal, sweeps = old_store, old_store.journal, old_store.sweeps
    old_conversation = store.views.turns(TurnFilter(limit=30))[-1].conversation_id
    parent = claim(store, add(store, old_conversation))
    queue = [add(store, old_conversation) for _ in range(3)]
    waiter, awaited = claim(store, add(store)), add(store)
    prepared = add(store, old_conversation, status=TurnStatus.PREPARED)

    with recorded(store.database) as statements:
        journal.commit(launching(parent, [child_of(parent.turn) for _ in range(3)]))
        journal.commit(waiting_for(waiter, queue[-1], awaited))
        sweeps.release_joined(limit=50)
        sweeps.expire_approvals(limit=50)
        journal.commit(step(claim(store, awaited), status=TurnStatus.COMPLETED))
        store.intake.submit(prepared.id, timeout=TIMEOUT)
        store.intake.add(child_of(parent.turn))
        store.intake.add(new_turn(old_conversation, awaits=[queue[0].id]))
        journal.outcomes([awaited.id])
        store.views.tree(parent.turn.id)
        store.views.latest_turn(old_conversation)
        store.views.turns(TurnFilter(roots=True))
        sweeps.unattended(limit=50)

    assert len(statements) >= 15
    assert_history_stays_unread(store.database, statements)


def test_controls_and_callbacks_read_nothing_that_has_ended(old_store: Store) -> None:
    store, sweeps, controls = old_store, old_store.sweeps, old_store.controls
    old_conversation = store.views.turns(TurnFilter(limit=30))[-1].conversation_id
    parent = claim(store, add(store, old_conversation))
    store.journal.commit(launching(parent, [child_of(parent.turn) for _ in range(3)]))
    owing = store.intake.add(replace(new_turn(), callback_to=old_conversation))
    late = claim(store, add(store)).turn
    controls.pause(late.id, reach=Reach.RETAIN)
    expire_lease(store.database, late.id)
    sweeps.release_expired(limit=50)
    pass_deadline(store.database, late.id)

    with recorded(store.database) as statements:
        sweeps.release_overdue(limit=50)
        controls.pause(parent.turn.id, reach=Reach.CASCADE)
        controls.resume(parent.turn.id, reach=Reach.CASCADE)
        controls.steer(parent.turn.id, key="a", text="Go.")
        controls.cancel(parent.turn.id, reach=Reach.CASCADE)
        controls.cancel(owing.id, reach=Reach.RETAIN)
        [owed] = store.deliveries.callbacks_due(limit=50)
        store.deliveries.drop_callback(owed.id, reason="no longer permitted")

    assert len(statements) >= 10
    assert_history_stays_unread(store.database, statements)


def test_a_statement_that_reads_history_would_be_noticed(old_store: Store) -> None:
    with recorded(old_store.database) as statements:
        old_store.database.read(
            lambda connection: connection.execute(
                text("SELECT count(*) FROM turns WHERE attempts = 7")
            ).all()
        )

    with pytest.raises(AssertionError):
        assert_history_stays_unread(old_store.database, statements)
