"""Approvals, and the agents whose policies apply to a turn."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from runner.store.types import Instant

revision = "0003"
down_revision = "0002"

_EXECUTION_STATUSES = (
    "'planned', 'asking', 'ready', 'running', 'waiting', 'completed', 'failed', 'timed_out',"
    " 'interrupted', 'refused', 'skipped'"
)
_EXECUTION_CHECK = f"status IN ({_EXECUTION_STATUSES})"


def upgrade() -> None:
    op.add_column("turns", sa.Column("ancestors", sa.Text(), nullable=False, server_default="[]"))
    op.add_column(
        "turns",
        sa.Column("open_approvals", sa.Integer(), nullable=False, server_default=sa.text("0")),
    )
    _trace_ancestors()
    if op.get_context().dialect.name == "sqlite":
        _rebuild_executions()
    else:
        op.drop_constraint("execution_status_known", "tool_executions")
        op.create_check_constraint("execution_status_known", "tool_executions", _EXECUTION_CHECK)
    _approvals()


def _trace_ancestors() -> None:
    """Say of the turns that there are which agents are above them, level by level."""
    connection = op.get_bind()
    below = sa.text(
        "SELECT turns.id, above.ancestors, above.agent, above.definition_hash"
        " FROM turns JOIN turns AS above ON above.id = turns.parent_id WHERE turns.depth = :depth"
    )
    change = sa.text("UPDATE turns SET ancestors = :ancestors WHERE id = :id")
    depth = 1
    while rows := connection.execute(below, {"depth": depth}).all():
        traced = [
            {"id": row.id, "ancestors": _with(row.ancestors, row.agent, row.definition_hash)}
            for row in rows
        ]
        connection.execute(change, traced)
        depth += 1


def _with(ancestors: str, agent: str, definition_hash: str) -> str:
    own = {"name": agent, "definition_hash": definition_hash}
    return json.dumps([*json.loads(ancestors), own], ensure_ascii=False, separators=(",", ":"))


def _rebuild_executions() -> None:
    """
    Make the table anew, since SQLite changes no constraint of one that exists.

    References to its rows are checked at the end, when they are back under the same names.
    """
    op.execute("PRAGMA defer_foreign_keys = ON")
    # Whatever refers to a row is looked for when the row goes and again when it comes back, which
    # takes too long without an index.
    _index("waits_by_execution", "waits", ["execution_id"])
    op.execute("CREATE TABLE tool_executions_before AS SELECT * FROM tool_executions")
    op.drop_table("tool_executions")
    op.create_table("tool_executions", *_execution_columns())
    op.execute("INSERT INTO tool_executions SELECT * FROM tool_executions_before")
    op.drop_table("tool_executions_before")
    op.drop_index("waits_by_execution")
    _index("one_execution_per_call", "tool_executions", ["turn_id", "call_id"], unique=True)
    _index("one_execution_per_position", "tool_executions", ["turn_id", "position"], unique=True)


def _execution_columns() -> list[sa.Column[Any] | sa.CheckConstraint]:
    return [
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("turn_id", sa.Text(), sa.ForeignKey("turns.id"), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("fence", sa.Integer()),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("started_at", Instant()),
        sa.Column("ended_at", Instant()),
        sa.Column("awaits", sa.Text()),
        sa.CheckConstraint(_EXECUTION_CHECK, name="execution_status_known"),
    ]


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("turn_id", sa.Text(), sa.ForeignKey("turns.id"), nullable=False),
        sa.Column("execution_id", sa.Text(), sa.ForeignKey("tool_executions.id"), nullable=False),
        sa.Column("agents", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("policy", sa.Text()),
        sa.Column("rule", sa.Text()),
        sa.Column("source", sa.Text()),
        sa.Column("layer", sa.Text()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("asked_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.Column("answer", sa.String(16)),
        sa.Column("answered_at", Instant()),
        sa.Column("answered_by", sa.Text()),
        sa.Column("answer_reason", sa.Text()),
        sa.CheckConstraint(
            "answer IN ('approved', 'denied', 'expired', 'withdrawn')",
            name="approval_answer_known",
        ),
        sa.CheckConstraint(
            "(answer IS NULL) = (answered_at IS NULL)", name="answered_approval_has_its_time"
        ),
    )
    _index("one_approval_per_execution", "approvals", ["execution_id"], unique=True)
    _index("approvals_of_turn", "approvals", ["turn_id"])
    _index("open_approvals", "approvals", ["asked_at", "id"], where="answered_at IS NULL")
    _index("expiring_approvals", "approvals", ["expires_at"], where="answered_at IS NULL")


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
