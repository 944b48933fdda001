"""Every rule of the audit finds the fault it is for, and nothing where there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Final

import pytest
from sqlalchemy import Connection, Executable, Table, insert, select, text, update

from runner.core.finding import Finding
from runner.core.ports import TurnFilter
from runner.store.audit import RULES
from runner.store.clock import db_now_plus
from runner.store.database import Database
from runner.store.store import Store
from runner.store.tables import ApprovalRow, TurnRow
from tests.integration.store.lived import live

_AN_HOUR_AGO: Final = db_now_plus(timedelta(hours=-1))
_CALLED_BACK: Final = update(TurnRow).where(TurnRow.callback_to.is_not(None))
_RUNNING: Final = update(TurnRow).where(TurnRow.worker_id.is_not(None))
_OPEN_APPROVAL: Final = update(ApprovalRow).where(ApprovalRow.answered_at.is_(None))
_AGAIN: Final = """
INSERT INTO events (turn_id, kind, body, at) SELECT turn_id, kind, body, at FROM events
"""
_OPPOSITE_WAIT: Final = """
INSERT INTO waits (waiter_id, awaited_id, created_at)
SELECT awaited_id, waiter_id, created_at FROM waits WHERE ended_at IS NULL
"""
_END_OF_SLEEPER: Final = """
INSERT INTO events (turn_id, kind, body, at)
SELECT id, 'turn.completed', '{}', created_at FROM turns WHERE agent = 'sleeper'
"""
_MOVED_TRIGGER: Final = """
UPDATE messages SET conversation_id = (SELECT conversation_id FROM turns WHERE agent = 'worker')
WHERE seq IS NULL
"""
_MOVED_RESULT: Final = """
UPDATE messages SET turn_id = (SELECT id FROM turns WHERE agent = 'sleeper') WHERE role = 'tool'
"""
_SAID_DURING_CALL: Final = """
INSERT INTO messages (id, conversation_id, turn_id, seq, role, parts, created_at)
SELECT 'msg_late', conversation_id, turn_id, seq + 1, 'user', '[]', created_at FROM messages
WHERE role = 'assistant' AND turn_id IN (SELECT id FROM turns WHERE agent = 'worker')
"""

#: What is changed behind the store's back, and the rule that this breaks.
FAULTS: Final = (
    ("unattended", "UPDATE turns SET due_at = NULL WHERE agent = 'sleeper'"),
    ("wait_circle", _OPPOSITE_WAIT),
    ("open_execution", "UPDATE tool_executions SET status = 'running' WHERE tool = 'act'"),
    ("open_input", "UPDATE inputs SET message_id = NULL"),
    ("outcome", "UPDATE turns SET error = '{}' WHERE status = 'completed'"),
    ("outcome", "UPDATE turns SET result = NULL WHERE status = 'completed'"),
    ("outcome", "UPDATE turns SET status = 'failed' WHERE status = 'completed'"),
    ("outcome", "UPDATE turns SET result = 'Done.' WHERE status = 'pending'"),
    ("ending_event", "DELETE FROM events WHERE kind = 'turn.completed'"),
    ("ending_event", "UPDATE events SET kind = 'turn.failed' WHERE kind = 'turn.completed'"),
    ("ending_event", f"{_AGAIN} WHERE kind = 'turn.completed'"),
    ("ending_event", _END_OF_SLEEPER),
    ("first_event", "DELETE FROM events WHERE kind = 'turn.submitted'"),
    ("claim_events", "DELETE FROM events WHERE kind = 'turn.resumed'"),
    ("requests", "UPDATE turns SET iterations = iterations + 2"),
    ("requests", f"{_AGAIN} WHERE kind = 'model.responded'"),
    ("started", "UPDATE turns SET started_at = NULL WHERE agent = 'child'"),
    ("execution_mark", "UPDATE tool_executions SET fence = NULL WHERE status = 'running'"),
    ("execution_mark", "UPDATE tool_executions SET fence = 9 WHERE status = 'running'"),
    ("claim_left", _RUNNING.values(lease_expires_at=_AN_HOUR_AGO)),
    ("callback_owed", _CALLED_BACK.values(callback_due=_AN_HOUR_AGO)),
    ("callback_untold", "DELETE FROM events WHERE kind = 'delivery.sent'"),
    ("lanes", "UPDATE conversations SET lanes = lanes + 1"),
    ("lanes", "UPDATE turns SET lane = lane + 5 WHERE agent = 'sleeper'"),
    ("places", "UPDATE messages SET seq = seq + 100 WHERE role = 'tool'"),
    ("places", "UPDATE messages SET seq = 0 WHERE seq = 1"),
    ("unplaced", "UPDATE messages SET seq = NULL WHERE seq = 1"),
    ("trigger", "UPDATE messages SET role = 'notice' WHERE role = 'user'"),
    ("lane_order", "UPDATE turns SET lane = 11 WHERE agent = 'parent' AND lane = 1"),
    ("message_home", _MOVED_TRIGGER),
    ("result_missing", "UPDATE messages SET execution_id = NULL"),
    ("result_early", "UPDATE tool_executions SET status = 'planned' WHERE tool = 'act'"),
    (
        "result_of_another",
        "UPDATE messages SET parts = replace(parts, 'call_0', 'call_9') WHERE role = 'tool'",
    ),
    ("result_of_another", "UPDATE messages SET role = 'notice' WHERE role = 'tool'"),
    ("result_of_another", _MOVED_RESULT),
    ("result_of_nothing", "UPDATE messages SET execution_id = NULL"),
    ("result_order", "UPDATE tool_executions SET position = 90 WHERE tool = 'act'"),
    ("call_positions", "UPDATE tool_executions SET position = 90 WHERE tool = 'act'"),
    ("call_unplanned", "UPDATE tool_executions SET call_id = 'other' WHERE tool = 'act'"),
    ("call_unknown", "UPDATE tool_executions SET call_id = 'other' WHERE tool = 'act'"),
    (
        "call_unknown",
        "UPDATE messages SET parts = replace(parts, 'call_1', 'call_0') WHERE role = 'assistant'",
    ),
    ("said_before_result", "UPDATE messages SET role = 'user' WHERE role = 'notice'"),
    ("said_before_result", _SAID_DURING_CALL),
    ("input_positions", "UPDATE inputs SET position = 7 WHERE position = 2"),
    ("input_order", "UPDATE inputs SET position = 9 WHERE position = 1"),
    ("place", "UPDATE turns SET depth = 2 WHERE parent_id IS NOT NULL"),
    ("place", "UPDATE turns SET depth = 1 WHERE parent_id IS NULL"),
    ("place", "UPDATE turns SET root_id = id WHERE parent_id IS NOT NULL"),
    ("launched_by", "UPDATE turns SET launched_by = 'exec_0' WHERE parent_id IS NOT NULL"),
    ("tree_iterations", "UPDATE turns SET use_iterations = use_iterations + 1"),
    ("tree_tool_executions", "UPDATE turns SET use_tool_executions = use_tool_executions + 1"),
    ("tree_children", "UPDATE turns SET use_children = use_children + 1"),
    ("limit_iterations", "UPDATE turns SET use_iterations = 1000"),
    ("limit_tool_executions", "UPDATE turns SET use_tool_executions = 1000"),
    ("limit_children", "UPDATE turns SET use_children = 1000"),
    ("limit_depth", "UPDATE turns SET depth = 9 WHERE parent_id IS NOT NULL"),
    ("turn_tool_executions", "UPDATE turns SET tool_executions = tool_executions + 1"),
    ("turn_tool_executions", "UPDATE tool_executions SET status = 'skipped'"),
    ("tree_tool_use", "UPDATE tree_tool_uses SET used = used + 1"),
    ("wait_left_open", "UPDATE waits SET ended_at = NULL"),
    ("open_waits", "UPDATE turns SET open_waits = 2 WHERE agent = 'waiter'"),
    ("waiters", "UPDATE turns SET waiters = 2 WHERE agent = 'sleeper'"),
    ("ancestors", "UPDATE turns SET ancestors = '[]' WHERE parent_id IS NOT NULL"),
    ("open_approvals", "UPDATE turns SET open_approvals = 5 WHERE agent = 'asker'"),
    ("asking_unasked", "DELETE FROM approvals WHERE answered_at IS NULL"),
    (
        "approval_pointless",
        "UPDATE tool_executions SET status = 'skipped' WHERE status = 'asking'",
    ),
    ("unapproved", "UPDATE approvals SET answer = 'denied' WHERE answer = 'approved'"),
    ("unapproved", "UPDATE tool_executions SET status = 'failed' WHERE status = 'asking'"),
    ("approved_otherwise", "UPDATE approvals SET arguments = '{}'"),
    ("approved_otherwise", "UPDATE approvals SET tool = 'act'"),
    ("approval_events", "DELETE FROM events WHERE kind = 'approval.requested'"),
    ("approval_events", f"{_AGAIN} WHERE kind = 'approval.answered'"),
    ("approval_overdue", _OPEN_APPROVAL.values(expires_at=_AN_HOUR_AGO)),
    ("delivery", "UPDATE deliveries SET destination = source WHERE source IS NOT NULL"),
)


#: Seconds after which leases that were left behind come near their end.
_FRESH: Final = 120.0

Rows = Mapping[Table, Sequence[Mapping[str, object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """All rows of a store that has lived, and the monotonic time when it had."""

    rows: Rows
    at: float


@pytest.fixture(scope="session")
def lives() -> dict[str, Life]:
    """One life for each kind of database: to live takes much longer than to be copied."""
    return {}


@pytest.fixture
def lived(database: Database, lives: dict[str, Life]) -> Store:
    """A sound store, which nothing looks at when the test is over."""
    store = Store.over(database)
    kind = database.engine.dialect.name
    life = lives.get(kind)
    if life is not None and monotonic() - life.at < _FRESH:
        database.write(lambda connection: fill(connection, life.rows))
    else:
        live(store)
        lives[kind] = Life(rows=database.read(all_rows), at=monotonic())
    return store


def all_rows(connection: Connection) -> Rows:
    return {
        table: [dict(row) for row in connection.execute(select(table)).mappings()]
        for table in TurnRow.metadata.sorted_tables
    }


def fill(connection: Connection, rows: Rows) -> None:
    for table, values in rows.items():
        if values:
            # One statement, because rows of one table refer to each other.
            connection.execute(insert(table).values(values))


def plant(store: Store, fault: str | Executable) -> None:
    statement = text(fault) if isinstance(fault, str) else fault

    def work(connection: Connection) -> None:
        connection.execute(statement)

    store.database.write(work)


def test_a_store_that_keeps_every_rule_has_no_findings(lived: Store) -> None:
    assert list(lived.audit.findings(limit=10)) == []


def test_there_is_a_fault_for_every_rule() -> None:
    others = {"unattended", "wait_circle"}

    assert {rule for rule, _ in FAULTS} == {rule.name for rule in RULES} | others


@pytest.mark.parametrize(("rule", "fault"), FAULTS, ids=[rule for rule, _ in FAULTS])
def test_a_broken_rule_is_found(lived: Store, rule: str, fault: str | Executable) -> None:
    plant(lived, fault)

    found = [finding for finding in lived.audit.findings(limit=100) if finding.rule == rule]

    assert found
    assert all(finding.message and "{" not in finding.message for finding in found)


def test_a_finding_names_its_turn_and_says_what_is_wrong(lived: Store) -> None:
    plant(lived, "UPDATE turns SET open_waits = 7 WHERE agent = 'waiter'")
    [waiter] = lived.views.turns(TurnFilter(agent="waiter"))

    assert list(lived.audit.findings(limit=10)) == [
        Finding(
            rule="open_waits",
            turn_id=waiter.id,
            message="the turn counts 7 open waits and has 1",
        )
    ]


def test_a_rule_that_is_broken_often_is_not_listed_without_end(lived: Store) -> None:
    plant(lived, "UPDATE turns SET error = '{}'")

    found = [each for each in lived.audit.findings(limit=2) if each.rule == "outcome"]

    assert len(found) == 2
