"""Conversations, their turns and messages, tool executions, events and definitions."""

import sqlalchemy as sa
from alembic import op

from runner.store.types import Instant

revision = "0001"
down_revision = None

_STATUSES = (
    "'prepared', 'pending', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'"
)
_LIVE = "status IN ('pending', 'running', 'waiting', 'paused')"


def upgrade() -> None:
    _definitions()
    _conversations()
    _turns()
    _tool_executions()
    _messages()
    _events()


def _definitions() -> None:
    op.create_table(
        "definitions",
        sa.Column("content_hash", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("lanes", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
    )


def _turns() -> None:
    op.create_table(
        "turns",
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
        *_turn_checks(),
    )
    _turn_indexes()


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
        sa.CheckConstraint(f"lane IS NOT NULL OR NOT ({_LIVE})", name="live_turn_has_a_lane"),
    )


def _turn_indexes() -> None:
    _index(
        "one_running_turn_per_conversation",
        "turns",
        ["conversation_id"],
        where="status = 'running'",
        unique=True,
    )
    _index("one_turn_per_lane", "turns", ["conversation_id", "lane"], unique=True)
    _index("live_turns", "turns", ["conversation_id", "lane"], where=_LIVE)
    _index("due_turns", "turns", ["due_at"], where="status = 'pending'")
    _index(
        "overdue_turns",
        "turns",
        ["deadline_at"],
        where="status = 'pending' AND started_at IS NULL",
    )
    _index("expiring_claims", "turns", ["lease_expires_at"], where="status = 'running'")
    _index("claims_of_worker", "turns", ["worker_id"], where="status = 'running'")
    _index("turns_by_status", "turns", ["status", "created_at", "id"])
    _index("turns_by_age", "turns", ["created_at", "id"])


def _tool_executions() -> None:
    op.create_table(
        "tool_executions",
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
        sa.CheckConstraint(
            "status IN ('planned', 'running', 'completed', 'failed', 'timed_out', 'interrupted',"
            " 'refused', 'skipped')",
            name="execution_status_known",
        ),
    )
    _index("one_execution_per_call", "tool_executions", ["turn_id", "call_id"], unique=True)
    _index("one_execution_per_position", "tool_executions", ["turn_id", "position"], unique=True)


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.Text(), primary_key=True),
        _reference("conversation_id", "conversations.id"),
        _reference("turn_id", "turns.id"),
        sa.Column("seq", sa.Integer()),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), sa.ForeignKey("tool_executions.id")),
        sa.Column("origin", sa.Text()),
        sa.Column("created_at", Instant(), nullable=False),
        sa.CheckConstraint(
            "role IN ('user', 'assistant', 'tool', 'context', 'notice')",
            name="message_role_known",
        ),
    )
    _index("one_message_per_place", "messages", ["conversation_id", "seq"], unique=True)
    _index(
        "one_result_per_execution",
        "messages",
        ["execution_id"],
        where="execution_id IS NOT NULL",
        unique=True,
    )
    _index("waiting_triggers", "messages", ["turn_id"], where="seq IS NULL")


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        _reference("turn_id", "turns.id"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", Instant(), nullable=False),
        sqlite_autoincrement=True,
    )
    _index("events_of_turn", "events", ["turn_id", "id"])


def _reference(column: str, to: str) -> sa.Column[str]:
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
