"""The database tables, with what the database itself guarantees about them."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint, Enum, ForeignKey, Index, Integer, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from runner.core.approvals import Answer
from runner.core.authorization import Action
from runner.core.messages import Role
from runner.core.records import TurnKind
from runner.core.states import LIVE, ExecutionStatus, Phase, TurnStatus
from runner.store.types import Dollars, Instant


def _values(kind: Iterable[StrEnum]) -> list[str]:
    return [member.value for member in kind]


def _among(column: str, members: Iterable[StrEnum]) -> str:
    """Write a condition the way the partial indexes have it, which a query must repeat."""
    return f"{column} IN ({', '.join(repr(value) for value in _values(members))})"


def _enum(kind: type[StrEnum]) -> Enum:
    return Enum(
        kind, native_enum=False, create_constraint=False, length=16, values_callable=_values
    )


def _index(name: str, *columns: str, where: str | None = None, unique: bool = False) -> Index:
    condition = None if where is None else text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


ENDED_STATUSES = tuple(status for status in TurnStatus if status.is_ended)
#: In these a submitted turn may be that was never claimed.
UNSTARTED = (TurnStatus.PENDING, TurnStatus.WAITING, TurnStatus.PAUSED)
#: In these a turn is not looked at until something happens to it.
HALTED = (TurnStatus.WAITING, TurnStatus.PAUSED, TurnStatus.STALE)


class Table(DeclarativeBase):
    type_annotation_map = {
        str: Text(),
        datetime: Instant(),
        Decimal: Dollars(),
        TurnStatus: _enum(TurnStatus),
        TurnKind: _enum(TurnKind),
        Phase: _enum(Phase),
        Role: _enum(Role),
        ExecutionStatus: _enum(ExecutionStatus),
        Action: _enum(Action),
        Answer: _enum(Answer),
    }


class DefinitionRow(Table):
    __tablename__ = "definitions"

    content_hash: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    name: Mapped[str]
    body: Mapped[str]
    created_at: Mapped[datetime]


class ConversationRow(Table):
    __tablename__ = "conversations"

    id: Mapped[str] = mapped_column(primary_key=True)
    agent: Mapped[str]
    #: The lane given out last; raising it is what serialises submitters.
    lanes: Mapped[int]
    created_at: Mapped[datetime]


class TurnRow(Table):
    __tablename__ = "turns"
    __table_args__ = (
        CheckConstraint(_among("status", TurnStatus), name="turn_status_known"),
        CheckConstraint(_among("phase", Phase), name="turn_phase_known"),
        CheckConstraint(_among("kind", TurnKind), name="turn_kind_known"),
        CheckConstraint(
            "(status = 'running') = (worker_id IS NOT NULL)"
            " AND (status = 'running') = (lease_expires_at IS NOT NULL)"
            " AND (status <> 'running' OR fence > 0)",
            name="running_turn_is_claimed",
        ),
        CheckConstraint(
            f"({_among('status', ENDED_STATUSES)}) = (ended_at IS NOT NULL)",
            name="ended_turn_has_its_time",
        ),
        CheckConstraint(
            f"lane IS NOT NULL OR NOT ({_among('status', LIVE)})", name="live_turn_has_a_lane"
        ),
        _index(
            "one_running_turn_per_conversation",
            "conversation_id",
            where="status = 'running'",
            unique=True,
        ),
        _index("one_turn_per_lane", "conversation_id", "lane", unique=True),
        _index("live_turns", "conversation_id", "lane", where=_among("status", LIVE)),
        _index("due_turns", "due_at", where="status = 'pending'"),
        _index(
            "overdue_turns",
            "deadline_at",
            where=f"started_at IS NULL AND {_among('status', UNSTARTED)}",
        ),
        _index(
            "overdue_halted_turns",
            "deadline_at",
            where=_among("status", HALTED),
        ),
        _index("expiring_claims", "lease_expires_at", where="status = 'running'"),
        _index("claims_of_worker", "worker_id", where="status = 'running'"),
        _index("turns_by_status", "status", "created_at", "id"),
        _index("turns_by_age", "created_at", "id"),
        _index("turns_of_conversation", "conversation_id", "created_at", "id"),
        _index("turns_below_turn", "parent_id", where="parent_id IS NOT NULL"),
        _index("owed_callbacks", "callback_due", where="callback_due IS NOT NULL"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    agent: Mapped[str]
    definition_hash: Mapped[str] = mapped_column(ForeignKey("definitions.content_hash"))
    kind: Mapped[TurnKind]
    status: Mapped[TurnStatus]
    phase: Mapped[Phase]
    lane: Mapped[int | None]
    fence: Mapped[int]
    step: Mapped[int]
    claims: Mapped[int]
    iterations: Mapped[int]
    tool_executions: Mapped[int]
    attempts: Mapped[int]
    usage: Mapped[str]
    principal: Mapped[str | None]
    context: Mapped[str]
    metadata_: Mapped[str] = mapped_column("metadata")
    result: Mapped[str | None]
    output_data: Mapped[str | None]
    error: Mapped[str | None]
    worker_id: Mapped[str | None]
    lease_expires_at: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    #: Since when, or from when, a pending turn may be claimed: never after its deadline.
    due_at: Mapped[datetime | None]
    deadline_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    root_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("turns.id"))
    launched_by: Mapped[str | None]
    depth: Mapped[int]
    hops: Mapped[int]
    tree_limits: Mapped[str]
    #: What the tree has used, counted on its root, whether that has ended or not.
    use_iterations: Mapped[int]
    use_tool_executions: Mapped[int]
    use_children: Mapped[int]
    #: The turns it was submitted to wait for, as JSON.
    awaits: Mapped[str | None]
    #: How many open waits the turn has, and how many there are for it; of no meaning once ended.
    open_waits: Mapped[int]
    waiters: Mapped[int]
    open_inputs: Mapped[int]
    pause_requested: Mapped[bool]
    cancel_requested: Mapped[bool]
    is_inline: Mapped[bool]
    callback_to: Mapped[str | None] = mapped_column(ForeignKey("conversations.id"))
    #: Since when the conversation is owed word of the end.
    callback_due: Mapped[datetime | None]
    #: What its answered requests cost, but for those for which no price was known.
    cost: Mapped[Decimal]
    unpriced_requests: Mapped[int]
    #: The agents of the turns above, the root's first, as JSON.
    ancestors: Mapped[str] = mapped_column(server_default="[]")
    #: How many of its approvals nobody has answered; of no meaning once it has ended.
    open_approvals: Mapped[int] = mapped_column(server_default=text("0"))


class ToolExecutionRow(Table):
    __tablename__ = "tool_executions"
    __table_args__ = (
        CheckConstraint(_among("status", ExecutionStatus), name="execution_status_known"),
        _index("one_execution_per_call", "turn_id", "call_id", unique=True),
        _index("one_execution_per_position", "turn_id", "position", unique=True),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    call_id: Mapped[str]
    tool: Mapped[str]
    position: Mapped[int]
    arguments: Mapped[str]
    status: Mapped[ExecutionStatus]
    fence: Mapped[int | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    #: The turns that work on it, as JSON.
    awaits: Mapped[str | None]


class MessageRow(Table):
    __tablename__ = "messages"
    __table_args__ = (
        CheckConstraint(_among("role", Role), name="message_role_known"),
        _index("one_message_per_place", "conversation_id", "seq", unique=True),
        _index(
            "one_result_per_execution",
            "execution_id",
            where="execution_id IS NOT NULL",
            unique=True,
        ),
        _index("waiting_triggers", "turn_id", where="seq IS NULL"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    #: Empty until the turn that this message triggers has started.
    seq: Mapped[int | None]
    role: Mapped[Role]
    parts: Mapped[str]
    execution_id: Mapped[str | None] = mapped_column(ForeignKey("tool_executions.id"))
    origin: Mapped[str | None]
    created_at: Mapped[datetime]


class EventRow(Table):
    __tablename__ = "events"
    __table_args__ = (
        _index("events_of_turn", "turn_id", "id"),
        # So that SQLite gives out no id twice, as PostgreSQL does not either.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer(), "sqlite"), primary_key=True
    )
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    kind: Mapped[str]
    body: Mapped[str]
    at: Mapped[datetime]


class WaitRow(Table):
    __tablename__ = "waits"
    __table_args__ = (
        _index(
            "one_open_wait_per_pair",
            "waiter_id",
            "awaited_id",
            where="ended_at IS NULL",
            unique=True,
        ),
        _index("open_waits_for_turn", "awaited_id", where="ended_at IS NULL"),
    )

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer(), "sqlite"), primary_key=True
    )
    waiter_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    awaited_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    #: The waiter's tool execution that the awaited turn works on.
    execution_id: Mapped[str | None] = mapped_column(ForeignKey("tool_executions.id"))
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class DeliveryRow(Table):
    __tablename__ = "deliveries"
    __table_args__ = (
        _index("one_delivery_per_key", "key", unique=True),
        _index("inbox", "destination", "created_at", "id"),
        _index("outbox", "source", "created_at", "id", where="source IS NOT NULL"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str]
    source: Mapped[str | None] = mapped_column(ForeignKey("conversations.id"))
    destination: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    text: Mapped[str]
    message_id: Mapped[str] = mapped_column(ForeignKey("messages.id"))
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    created_at: Mapped[datetime]


class InputRow(Table):
    __tablename__ = "inputs"
    __table_args__ = (
        _index("one_input_per_key", "turn_id", "key", unique=True),
        _index("one_input_per_position", "turn_id", "position", unique=True),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    key: Mapped[str]
    position: Mapped[int]
    text: Mapped[str]
    #: Empty while it is queued.
    message_id: Mapped[str | None] = mapped_column(ForeignKey("messages.id"))
    created_at: Mapped[datetime]


class ApprovalRow(Table):
    __tablename__ = "approvals"
    __table_args__ = (
        CheckConstraint(_among("answer", Answer), name="approval_answer_known"),
        CheckConstraint(
            "(answer IS NULL) = (answered_at IS NULL)", name="answered_approval_has_its_time"
        ),
        _index("one_approval_per_execution", "execution_id", unique=True),
        _index("approvals_of_turn", "turn_id"),
        _index("open_approvals", "asked_at", "id", where="answered_at IS NULL"),
        _index("expiring_approvals", "expires_at", where="answered_at IS NULL"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    turn_id: Mapped[str] = mapped_column(ForeignKey("turns.id"))
    execution_id: Mapped[str] = mapped_column(ForeignKey("tool_executions.id"))
    #: The names of the agents from the root's to the one that calls, as JSON.
    agents: Mapped[str]
    tool: Mapped[str]
    arguments: Mapped[str]
    action: Mapped[Action]
    policy: Mapped[str | None]
    rule: Mapped[str | None]
    source: Mapped[str | None]
    layer: Mapped[str | None]
    reason: Mapped[str]
    asked_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    answer: Mapped[Answer | None]
    answered_at: Mapped[datetime | None]
    answered_by: Mapped[str | None]
    answer_reason: Mapped[str | None]


class TreeToolUseRow(Table):
    __tablename__ = "tree_tool_uses"

    root_id: Mapped[str] = mapped_column(ForeignKey("turns.id"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    used: Mapped[int]
