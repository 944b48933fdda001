"""Launch trees, waits, deliveries, inputs and what controls request."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from runner.store.types import Instant

revision = "0002"
down_revision = "0001"

_STATUSES = (
    "'prepared', 'pending', 'running', 'waiting', 'paused', 'stale', 'completed', 'failed',"
    " 'cancelled'"
)
_EXECUTION_STATUSES = (
    "'planned', 'ready', 'running', 'waiting', 'completed', 'failed', 'timed_out', 'interrupted',"
    " 'refused', 'skipped'"
)
_LIVE = "status IN ('pending', 'running', 'waiting', 'paused', 'stale')"
_LANE_CHECK = f"lane IS NOT NULL OR NOT ({_LIVE})"
_EXECUTION_CHECK = f"status IN ({_EXECUTION_STATUSES})"
#: The answers of a turn, of which none had a price then.
_ANSWERED = (
    "(SELECT count(*) FROM (SELECT turn_id AS answered FROM events WHERE kind = 'model.responded')"
    " AS answers WHERE answered = id)"
)
#: What a definition said nothing about.
_LIMITS: dict[str, object] = {
    "max_iterations": 25,
    "max_tool_executions": 100,
    "max_tool_executions_by_name": {},
    "max_depth": 3,
    "max_children": 50,
    "max_fan_out": 10,
    "max_hops": 20,
}


def upgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        _rebuild()
    else:
        _alter()
    _new_indexes()
    _take_over_limits()
    _waits()
    _deliveries()
    _inputs()
    _tree_tool_uses()


def _alter() -> None:
    """Change the tables where they are."""
    op.drop_index("live_turns")
    op.drop_index("overdue_turns")
    op.drop_constraint("turn_status_known", "turns")
    op.drop_constraint("live_turn_has_a_lane", "turns")
    op.drop_constraint("execution_status_known", "tool_executions")
    columns = _new_turn_columns()
    required = [column.name for column, _ in columns if not column.nullable]
    for column, _ in columns:
        column.nullable = True
        op.add_column("turns", column)
    values = ", ".join(f"{column.name} = {value}" for column, value in columns)
    op.execute(f"UPDATE turns SET {values}")  # noqa: S608 - the words below
    for name in required:
        op.alter_column("turns", name, nullable=False)
    op.add_column("tool_executions", sa.Column("awaits", sa.Text()))
    op.create_check_constraint("turn_status_known", "turns", f"status IN ({_STATUSES})")
    op.create_check_constraint("live_turn_has_a_lane", "turns", _LANE_CHECK)
    op.create_check_constraint("execution_status_known", "tool_executions", _EXECUTION_CHECK)


def _rebuild() -> None:
    """
    Make the tables anew, since SQLite changes no constraint of one that exists.

    References to their rows are checked at the end, when the rows are back under the same names.
    """
    op.execute("PRAGMA defer_foreign_keys = ON")
    # Whatever refers to a row is looked for when the row goes and again when it comes back, which
    # takes too long without an index.
    _index("messages_by_turn", "messages", ["turn_id"])
    columns = _new_turn_columns()
    _replace(
        "turns",
        [*_old_turn_columns(), *(column for column, _ in columns), *_turn_checks()],
        {column.name: value for column, value in columns},
        referring=["root_id", "parent_id"],
    )
    _replace(
        "tool_executions",
        [
            *_old_execution_columns(),
            sa.Column("awaits", sa.Text()),
            sa.CheckConstraint(_EXECUTION_CHECK, name="execution_status_known"),
        ],
        {"awaits": "NULL"},
    )
    op.drop_index("messages_by_turn")
    _old_indexes()


def _replace(
    table: str,
    items: Sequence[sa.Column[Any] | sa.CheckConstraint],
    new: dict[str, str],
    *,
    referring: Sequence[str] = (),
) -> None:
    """
    Make *table* of *items*, with the rows it has and the values of its *new* columns.

    Args:
        table: Its name.
        items: Its columns and constraints.
        new: The values of columns that it did not have.
        referring: Columns that refer to the table itself.
    """
    names = [item.name for item in items if isinstance(item, sa.Column)]
    values = ", ".join(new.get(name, name) for name in names)
    copy = f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table}_before"  # noqa: S608 - the words below
    op.execute(f"CREATE TABLE {table}_before AS SELECT * FROM {table}")  # noqa: S608 - see below
    op.drop_table(table)
    op.create_table(table, *items)
    for column in referring:
        _index(f"{table}_by_{column}", table, [column])
    op.execute(copy)
    for column in referring:
        op.drop_index(f"{table}_by_{column}")
    op.drop_table(f"{table}_before")


def _old_turn_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", sa.Text(), primary_key=True),
        _reference("conversation_id", "conversations.id"),
        sa.Column("agent", sa.Text(), nullable=False),
        _reference("definition_hash", "definitions.content_hash"),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("lane", sa.Integer()),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("iterations", sa.Integer(), nullable=False),
        sa.Column("tool_executions", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("usage", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text()),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("output_data", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("worker_id", sa.Text()),
        sa.Column("lease_expires_at", Instant()),
        sa.Column("not_before", Instant()),
        sa.Column("due_at", Instant()),
        sa.Column("deadline_at", Instant()),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("started_at", Instant()),
        sa.Column("ended_at", Instant()),
    ]


def _old_execution_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", sa.Text(), primary_key=True),
        _reference("turn_id", "turns.id"),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("fence", sa.Integer()),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("started_at", Instant()),
        sa.Column("ended_at", Instant()),
    ]


def _new_turn_columns() -> list[tuple[sa.Column[Any], str]]:
    """Return the new columns, each with what turns have in it that were there before."""
    return [
        (_reference("root_id", "turns.id"), "id"),
        (sa.Column("parent_id", sa.Text(), sa.ForeignKey("turns.id")), "NULL"),
        (sa.Column("launched_by", sa.Text()), "NULL"),
        (sa.Column("depth", sa.Integer(), nullable=False), "0"),
        (sa.Column("hops", sa.Integer(), nullable=False), "0"),
        (sa.Column("tree_limits", sa.Text(), nullable=False), f"'{json.dumps(_LIMITS)}'"),
        (sa.Column("use_iterations", sa.Integer(), nullable=False), "iterations"),
        (sa.Column("use_tool_executions", sa.Integer(), nullable=False), "tool_executions"),
        (sa.Column("use_children", sa.Integer(), nullable=False), "0"),
        (sa.Column("awaits", sa.Text()), "NULL"),
        (sa.Column("open_waits", sa.Integer(), nullable=False), "0"),
        (sa.Column("waiters", sa.Integer(), nullable=False), "0"),
        (sa.Column("open_inputs", sa.Integer(), nullable=False), "0"),
        (sa.Column("pause_requested", sa.Boolean(), nullable=False), "false"),
        (sa.Column("cancel_requested", sa.Boolean(), nullable=False), "false"),
        (sa.Column("is_inline", sa.Boolean(), nullable=False), "false"),
        (sa.Column("callback_to", sa.Text(), sa.ForeignKey("conversations.id")), "NULL"),
        (sa.Column("callback_due", Instant()), "NULL"),
        (sa.Column("cost", sa.BigInteger(), nullable=False), "0"),
        (sa.Column("unpriced_requests", sa.Integer(), nullable=False), _ANSWERED),
    ]


def _turn_checks() -> tuple[sa.CheckConstraint, ...]:
    return (
        sa.CheckConstraint(f"status IN ({_STATUSES})", name="turn_status_known"),
        sa.CheckConstraint("phase IN ('model', 'tools', 'output')", name="turn_phase_known"),
        sa.CheckConstraint("kind IN ('task', 'chat')", name="turn_kind_known"),
        sa.CheckConstraint(
            "(status = 'running') = (worker_id IS NOT NULL)"
            " AND (status = 'running') = (lease_expires_at IS NOT NULL)"
            " AND (status <> 'running' OR fence > 0)",
            name="running_turn_is_claimed",
        ),
        sa.CheckConstraint(
            "(status IN ('completed', 'failed', 'cancelled')) = (ended_at IS NOT NULL)",
            name="ended_turn_has_its_time",
        ),
        sa.CheckConstraint(_LANE_CHECK, name="live_turn_has_a_lane"),
    )


def _old_indexes() -> None:
    _index(
        "one_running_turn_per_conversation",
        "turns",
        ["conversation_id"],
        where="status = 'running'",
        unique=True,
    )
    _index("one_turn_per_lane", "turns", ["conversation_id", "lane"], unique=True)
    _index("due_turns", "turns", ["due_at"], where="status = 'pending'")
    _index("expiring_claims", "turns", ["lease_expires_at"], where="status = 'running'")
    _index("claims_of_worker", "turns", ["worker_id"], where="status = 'running'")
    _index("turns_by_status", "turns", ["status", "created_at", "id"])
    _index("turns_by_age", "turns", ["created_at", "id"])
    _index("one_execution_per_call", "tool_executions", ["turn_id", "call_id"], unique=True)
    _index("one_execution_per_position", "tool_executions", ["turn_id", "position"], unique=True)


def _new_indexes() -> None:
    _index("live_turns", "turns", ["conversation_id", "lane"], where=_LIVE)
    _index(
        "overdue_turns",
        "turns",
        ["deadline_at"],
        where="started_at IS NULL AND status IN ('pending', 'waiting', 'paused')",
    )
    _index(
        "overdue_halted_turns",
        "turns",
        ["deadline_at"],
        where="status IN ('waiting', 'paused', 'stale')",
    )
    _index("turns_of_conversation", "turns", ["conversation_id", "created_at", "id"])
    _index("turns_below_turn", "turns", ["parent_id"], where="parent_id IS NOT NULL")
    _index("owed_callbacks", "turns", ["callback_due"], where="callback_due IS NOT NULL")


def _take_over_limits() -> None:
    """Give existing turns the limits of their definitions, which are those of their trees now."""
    connection = op.get_bind()
    change = sa.text("UPDATE turns SET tree_limits = :limits WHERE definition_hash = :hash")
    definitions = connection.execute(sa.text("SELECT content_hash, body FROM definitions")).all()
    for content_hash, body in definitions:
        declared = json.loads(body).get("limits", {})
        limits = {name: declared.get(name, value) for name, value in _LIMITS.items()}
        connection.execute(change, {"limits": json.dumps(limits), "hash": content_hash})


def _waits() -> None:
    op.create_table(
        "waits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        _reference("waiter_id", "turns.id"),
        _reference("awaited_id", "turns.id"),
        sa.Column("execution_id", sa.Text(), sa.ForeignKey("tool_executions.id")),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("ended_at", Instant()),
    )
    _index(
        "one_open_wait_per_pair",
        "waits",
        ["waiter_id", "awaited_id"],
        where="ended_at IS NULL",
        unique=True,
    )
    _index("open_waits_for_turn", "waits", ["awaited_id"], where="ended_at IS NULL")


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), sa.ForeignKey("conversations.id")),
        _reference("destination", "conversations.id"),
        sa.Column("text", sa.Text(), nullable=False),
        _reference("message_id", "messages.id"),
        _reference("turn_id", "turns.id"),
        sa.Column("created_at", Instant(), nullable=False),
    )
    _index("one_delivery_per_key", "deliveries", ["key"], unique=True)
    _index("inbox", "deliveries", ["destination", "created_at", "id"])
    _index("outbox", "deliveries", ["source", "created_at", "id"], where="source IS NOT NULL")


def _inputs() -> None:
    op.create_table(
        "inputs",
        sa.Column("id", sa.Text(), primary_key=True),
        _reference("turn_id", "turns.id"),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), sa.ForeignKey("messages.id")),
        sa.Column("created_at", Instant(), nullable=False),
    )
    _index("one_input_per_key", "inputs", ["turn_id", "key"], unique=True)
    _index("one_input_per_position", "inputs", ["turn_id", "position"], unique=True)


def _tree_tool_uses() -> None:
    op.create_table(
        "tree_tool_uses",
        sa.Column("root_id", sa.Text(), sa.ForeignKey("turns.id"), primary_key=True),
        sa.Column("tool", sa.Text(), primary_key=True),
        sa.Column("used", sa.Integer(), nullable=False),
    )
    op.execute(
        "INSERT INTO tree_tool_uses (root_id, tool, used)"
        " SELECT turn_id, tool, count(*) FROM tool_executions"
        " JOIN turns ON turns.id = turn_id AND turns.ended_at IS NULL"
        " WHERE tool_executions.status NOT IN ('planned', 'refused', 'skipped')"
        " GROUP BY turn_id, tool"
    )


def _reference(column: str, to: str) -> sa.Column[Any]:
    return sa.Column(column, sa.Text(), sa.ForeignKey(to), nullable=False)


def _index(
    name: str, table: str, columns: list[str], *, where: str | None = None, unique: bool = False
) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
