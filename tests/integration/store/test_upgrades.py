"""Databases of earlier versions, brought up to the present one with what is in them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, TextClause, text

from runner.core.cost import Cost
from runner.core.errors import LimitReached, StoreError
from runner.core.ids import ConversationId, ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Text
from runner.core.records import Shared
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tree import Place, Reservation, TreeLimits, TreeUse
from runner.store.database import Database, open_database
from runner.store.schema import _config, ensure_schema, upgrade_schema
from runner.store.store import Store
from runner.store.types import Instant
from tests.integration.store.builders import add, child_of, claim, launching, step

NOW = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
BODY = json.dumps({"limits": {"max_iterations": 7, "max_tool_executions_by_name": {"search": 3}}})

DEFINITION = text("INSERT INTO definitions VALUES ('sha256:1', 'agent', 'writer', :body, :now)")
CONVERSATION = text("INSERT INTO conversations VALUES (:id, 'writer', :lanes, :now)")
TURN = text(
    "INSERT INTO turns (id, conversation_id, agent, definition_hash, kind, status, phase, lane,"
    " fence, step, claims, iterations, tool_executions, attempts, usage, context, metadata,"
    " due_at, deadline_at, created_at, started_at, ended_at)"
    " VALUES (:id, :conversation, 'writer', 'sha256:1', 'chat', :status, 'model', :lane, 1, 2, 0,"
    " 4, 2, 0, '{}', '{}', '{}', :due, :deadline, :now, :started, :ended)"
)
EXECUTION = text(
    "INSERT INTO tool_executions (id, turn_id, call_id, tool, position, arguments, status, fence,"
    " created_at, started_at, ended_at)"
    " VALUES (:id, :turn, :id, 'search', :position, '{}', :status, 1, :now, :now, :now)"
)
MESSAGE = text(
    "INSERT INTO messages (id, conversation_id, turn_id, seq, role, parts, execution_id,"
    " created_at) VALUES (:id, :conversation, :turn, :seq, :role, :parts, :execution, :now)"
)
EVENT = text("INSERT INTO events (turn_id, kind, body, at) VALUES (:turn, :kind, '{}', :now)")


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of each kind with the schema that had no trees, and some turns."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/old.db"
    else:
        url = request.getfixturevalue("empty_postgres_url")
    database = open_database(url)
    database.write(_make_first_schema)
    database.write(_fill)
    yield database
    database.close()


def _make_first_schema(connection: Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "0001")


def _fill(connection: Connection) -> None:
    def stamp(instant: datetime | None) -> object:
        return Instant().process_bind_param(instant, connection.dialect)

    now = stamp(NOW)

    def run(statement: TextClause, **values: object) -> None:
        connection.execute(statement, {"now": now, **values})

    run(DEFINITION, body=BODY)
    run(CONVERSATION, id="conv_1", lanes=2)
    ended = {"status": "completed", "lane": 1, "due": None, "ended": now}
    live = {"status": "pending", "lane": 2, "due": now, "ended": None}
    for turn_id, values in (("turn_old", ended), ("turn_live", live)):
        deadline = stamp(datetime.now(UTC) + timedelta(days=1))  # noqa: TID251 - a row as it was written then
        run(
            TURN,
            id=turn_id,
            conversation="conv_1",
            deadline=deadline,
            started=now,
            **values,
        )
        run(EVENT, turn=turn_id, kind="x")
    for _ in range(3):
        run(EVENT, turn="turn_old", kind="model.responded")
    for place, status in enumerate(("completed", "failed", "planned"), start=1):
        run(EXECUTION, id=f"exec_{place}", turn="turn_live", position=place, status=status)
    parts = json.dumps([{"type": "text", "text": "Hello."}])
    for seq in range(1, 4):
        execution = f"exec_{seq}" if seq > 1 else None
        run(
            MESSAGE,
            id=f"msg_{seq}",
            conversation="conv_1",
            turn="turn_live",
            seq=seq,
            role="user",
            parts=parts,
            execution=execution,
        )


def test_turns_from_before_trees_are_roots_and_go_on(old: Database) -> None:
    upgrade_schema(old)

    ensure_schema(old)
    store = Store.over(old)
    turn = store.views.turn(TurnId("turn_live"))
    limits = TreeLimits(max_iterations=7, max_tool_executions_by_name={"search": 3})
    assert turn.place == Place(root_id=turn.id, limits=limits)
    assert turn.use == TreeUse(iterations=4, tool_executions=2)
    assert (turn.status, turn.open_waits, turn.pause_requested) == (TurnStatus.PENDING, 0, False)
    assert turn.created_at == NOW
    ended = store.views.turn(TurnId("turn_old"))
    assert (ended.status, ended.ended_at) == (TurnStatus.COMPLETED, NOW)
    runs = store.journal.executions(turn.id)
    assert [run.id for run in runs] == [ExecutionId(f"exec_{n}") for n in (1, 2, 3)]
    assert [run.status for run in runs][2] is ExecutionStatus.PLANNED
    messages = store.journal.transcript(ConversationId("conv_1"))
    assert [message.parts for message in messages] == [(Text(text="Hello."),)] * 3
    assert len(store.views.events(turn.id)) == 1
    assert list(store.sweeps.unattended(limit=10)) == []


def test_a_turn_from_before_trees_can_do_what_others_can(old: Database) -> None:
    upgrade_schema(old)
    store = Store.over(old)
    claimed = claim(store, store.views.turn(TurnId("turn_live")))

    parent = launching(claimed, [child_of(claimed.turn)], number=3, first=4)
    committed = store.journal.commit(parent)

    assert committed.wake == (parent.children[0].id,)
    assert add(store, claimed.turn.conversation_id).lane == 3


def test_what_was_used_of_a_tool_still_counts(old: Database) -> None:
    upgrade_schema(old)
    store = Store.over(old)
    claimed = claim(store, store.views.turn(TurnId("turn_live")))

    two = Reservation(tool_executions=2, by_name={"search": 2})
    with pytest.raises(LimitReached, match=r"by_name\.search allows 3, and 1 are left"):
        store.journal.commit(replace(step(claimed, number=3), reserve=two))


def test_what_was_answered_before_there_were_prices_is_unpriced(old: Database) -> None:
    upgrade_schema(old)

    views = Store.over(old).views
    assert views.turn(TurnId("turn_old")).cost == Cost(unpriced_requests=3)
    assert views.turn(TurnId("turn_live")).cost == Cost()


@pytest.mark.parametrize(("kind", "shared"), [("task", {"a": 1}), ("chat", {})])
def test_a_task_from_before_gives_its_conversation_what_it_was_given(
    old: Database, kind: str, shared: JsonObject
) -> None:
    statement = text("UPDATE turns SET kind = :kind, context = :context")

    def give(connection: Connection) -> None:
        connection.execute(statement, {"kind": kind, "context": '{"a":1}'})

    old.write(give)

    upgrade_schema(old)

    conversation = Store.over(old).views.conversation(ConversationId("conv_1"))
    assert conversation.shared == Shared(context=shared)


def test_references_are_still_held_after_the_upgrade(old: Database) -> None:
    upgrade_schema(old)

    def orphan(connection: Connection) -> None:
        connection.execute(text("DELETE FROM turns WHERE id = 'turn_old'"))

    with pytest.raises(StoreError, match=r"(?i)foreign key"):
        old.write(orphan)


_COPY_BELOW = text(
    "INSERT INTO turns (id, conversation_id, agent, definition_hash, kind, status, phase, lane,"
    " fence, step, claims, iterations, tool_executions, attempts, usage, context, metadata,"
    " deadline_at, created_at, started_at, ended_at, root_id, parent_id, depth, hops, tree_limits,"
    " use_iterations, use_tool_executions, use_children, open_waits, waiters, open_inputs,"
    " pause_requested, cancel_requested, is_inline, cost, unpriced_requests)"
    " SELECT :id, conversation_id, :agent, definition_hash, kind, 'completed', phase, :lane, fence,"
    " step, claims, iterations, tool_executions, attempts, usage, context, metadata, deadline_at,"
    " created_at, started_at, created_at, root_id, id, depth + 1, hops, tree_limits, 1, 0, 0, 0, 0,"
    " 0, false, false, false, 0, 0 FROM turns WHERE id = :parent"
)
_WAIT = text(
    "INSERT INTO waits (waiter_id, awaited_id, execution_id, created_at, ended_at)"
    " SELECT 'turn_live', 'turn_child', 'exec_1', created_at, created_at FROM turns"
    " WHERE id = 'turn_live'"
)


def test_turns_from_before_policies_know_the_agents_above_them(old: Database) -> None:
    def grow(connection: Connection) -> None:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        child = {"id": "turn_child", "agent": "reader", "lane": 3, "parent": "turn_live"}
        grandchild = {"id": "turn_grandchild", "agent": "poet", "lane": 4, "parent": "turn_child"}
        connection.execute(_COPY_BELOW, child)
        connection.execute(_COPY_BELOW, grandchild)
        connection.execute(_WAIT)

    old.write(grow)

    upgrade_schema(old)

    store = Store.over(old)
    lineage = store.views.turn(TurnId("turn_grandchild")).lineage
    assert [each.name for each in lineage] == ["writer", "reader", "poet"]
    assert {each.definition_hash for each in lineage} == {"sha256:1"}
    live = store.views.turn(TurnId("turn_live"))
    assert (live.place.ancestors, live.open_approvals) == ((), 0)
    assert [run.status for run in store.journal.executions(live.id)] == [
        ExecutionStatus.COMPLETED,
        ExecutionStatus.FAILED,
        ExecutionStatus.PLANNED,
    ]
