"""The rules between turns: launch trees and their counters, waits, deliveries."""

from typing import Final

from sqlalchemy import ColumnElement, Integer, cast, exists, func, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, aliased

from runner.core.messages import Role
from runner.core.states import ExecutionStatus
from runner.store.audit_rule import Rule
from runner.store.json_sql import json_field, json_items
from runner.store.tables import (
    DeliveryRow,
    EventRow,
    MessageRow,
    ToolExecutionRow,
    TreeToolUseRow,
    TurnRow,
    WaitRow,
)

#: Executions that count against no limit, though they may have been counted for a while.
_UNCOUNTED: Final = (
    ExecutionStatus.PLANNED,
    ExecutionStatus.ASKING,
    ExecutionStatus.REFUSED,
    ExecutionStatus.SKIPPED,
)

_PARENT: Final = aliased(TurnRow, name="parent_turn")
_WAITER: Final = aliased(TurnRow, name="waiter")
_AWAITED: Final = aliased(TurnRow, name="awaited")

_trees = (
    select(
        TurnRow.root_id,
        func.sum(TurnRow.iterations).label("iterations"),
        func.sum(TurnRow.tool_executions).label("tool_executions"),
        (func.count() - 1).label("children"),
    )
    .group_by(TurnRow.root_id)
    .subquery("trees")
)
_counted = (
    select(ToolExecutionRow.id, ToolExecutionRow.turn_id, ToolExecutionRow.tool)
    .where(
        ToolExecutionRow.status.not_in(_UNCOUNTED),
        exists().where(
            EventRow.turn_id == ToolExecutionRow.turn_id,
            EventRow.kind == "tool_call.started",
            json_field(EventRow.body, "execution_id") == ToolExecutionRow.id,
        ),
    )
    .cte("counted")
)
_counted_by_turn = (
    select(_counted.c.turn_id, func.count().label("number"))
    .group_by(_counted.c.turn_id)
    .subquery("counted_by_turn")
)
_counted_by_tool = (
    select(TurnRow.root_id, _counted.c.tool, func.count().label("number"))
    .join(TurnRow, TurnRow.id == _counted.c.turn_id)
    .group_by(TurnRow.root_id, _counted.c.tool)
    .subquery("counted_by_tool")
)


_above = json_items(TurnRow.ancestors, "above")
_ancestors = (
    select(
        TurnRow.id.label("turn_id"), TurnRow.depth, func.count(_above.c.value).label("ancestors")
    )
    .select_from(TurnRow)
    .outerjoin(_above, true())
    .group_by(TurnRow.id)
    .subquery("ancestors_of_turns")
)


def _open_waits(end: InstrumentedAttribute[str]) -> ColumnElement[int]:
    return (
        select(func.count())
        .select_from(WaitRow)
        .where(end == TurnRow.id, WaitRow.ended_at.is_(None))
        .correlate(TurnRow)
        .scalar_subquery()
    )


def _limit(name: str) -> ColumnElement[int]:
    return cast(json_field(TurnRow.tree_limits, name), Integer)


def _counter(name: str) -> Rule:
    """Say that what a root has counted is what its tree has used."""
    stored, used = getattr(TurnRow, f"use_{name}"), _trees.c[name]
    return Rule(
        name=f"tree_{name}",
        message=f"the root counts {{stored}} {name}, and its tree has used {{used}}",
        query=select(TurnRow.id.label("turn_id"), stored.label("stored"), used.label("used"))
        .join(_trees, _trees.c.root_id == TurnRow.id)
        .where(stored != used),
    )


def _overshot(name: str) -> Rule:
    """Say that a tree has used no more than its root allows."""
    used, limit = getattr(TurnRow, f"use_{name}"), _limit(f"max_{name}")
    return Rule(
        name=f"limit_{name}",
        message=f"the tree has used {{used}} {name} where {{most}} are allowed",
        query=select(TurnRow.id.label("turn_id"), used.label("used"), limit.label("most")).where(
            TurnRow.parent_id.is_(None), used > limit
        ),
    )


RULES: Final = (
    Rule(
        name="place",
        message="the turn's place below {parent_id} does not fit that turn's own",
        query=select(TurnRow.id.label("turn_id"), TurnRow.parent_id)
        .outerjoin(_PARENT, _PARENT.id == TurnRow.parent_id)
        .where(
            or_(
                TurnRow.root_id != func.coalesce(_PARENT.root_id, TurnRow.id),
                TurnRow.depth != func.coalesce(_PARENT.depth + 1, 0),
            )
        ),
    ),
    Rule(
        name="ancestors",
        message="the turn is {depth} levels below its root and knows {ancestors} agents above it",
        query=select(_ancestors).where(_ancestors.c.depth != _ancestors.c.ancestors),
    ),
    Rule(
        name="launched_by",
        message="the turn was launched by {launched_by}, which is no execution of its parent's",
        query=select(TurnRow.id.label("turn_id"), TurnRow.launched_by).where(
            TurnRow.launched_by.is_not(None),
            ~exists().where(
                ToolExecutionRow.id == TurnRow.launched_by,
                ToolExecutionRow.turn_id == TurnRow.parent_id,
            ),
        ),
    ),
    _counter("iterations"),
    _counter("tool_executions"),
    _counter("children"),
    _overshot("iterations"),
    _overshot("tool_executions"),
    _overshot("children"),
    Rule(
        name="limit_depth",
        message="the turn is {depth} levels below its root, where {most} are allowed",
        query=select(
            TurnRow.id.label("turn_id"), TurnRow.depth, _limit("max_depth").label("most")
        ).where(TurnRow.depth > _limit("max_depth")),
    ),
    Rule(
        name="turn_tool_executions",
        message="the turn counts {tool_executions} tool executions and has {used}",
        query=select(
            TurnRow.id.label("turn_id"),
            TurnRow.tool_executions,
            func.coalesce(_counted_by_turn.c.number, 0).label("used"),
        )
        .outerjoin(_counted_by_turn, _counted_by_turn.c.turn_id == TurnRow.id)
        .where(TurnRow.tool_executions != func.coalesce(_counted_by_turn.c.number, 0)),
    ),
    Rule(
        name="tree_tool_use",
        message="the root counts {used} executions of {tool}, and its tree has {number}",
        query=select(
            TreeToolUseRow.root_id.label("turn_id"),
            TreeToolUseRow.tool,
            TreeToolUseRow.used,
            func.coalesce(_counted_by_tool.c.number, 0).label("number"),
        )
        .outerjoin(
            _counted_by_tool,
            (_counted_by_tool.c.root_id == TreeToolUseRow.root_id)
            & (_counted_by_tool.c.tool == TreeToolUseRow.tool),
        )
        .where(TreeToolUseRow.used != func.coalesce(_counted_by_tool.c.number, 0)),
    ),
    Rule(
        name="wait_left_open",
        message="the wait for {awaited_id} is open, and one of the two has ended",
        query=select(WaitRow.waiter_id.label("turn_id"), WaitRow.awaited_id)
        .join(_WAITER, _WAITER.id == WaitRow.waiter_id)
        .join(_AWAITED, _AWAITED.id == WaitRow.awaited_id)
        .where(
            WaitRow.ended_at.is_(None),
            or_(_WAITER.ended_at.is_not(None), _AWAITED.ended_at.is_not(None)),
        ),
    ),
    Rule(
        name="open_waits",
        message="the turn counts {open_waits} open waits and has {edges}",
        query=select(
            TurnRow.id.label("turn_id"),
            TurnRow.open_waits,
            _open_waits(WaitRow.waiter_id).label("edges"),
        ).where(TurnRow.ended_at.is_(None), TurnRow.open_waits != _open_waits(WaitRow.waiter_id)),
    ),
    Rule(
        name="waiters",
        message="the turn counts {waiters} that wait for it, and {edges} do",
        query=select(
            TurnRow.id.label("turn_id"),
            TurnRow.waiters,
            _open_waits(WaitRow.awaited_id).label("edges"),
        ).where(TurnRow.ended_at.is_(None), TurnRow.waiters != _open_waits(WaitRow.awaited_id)),
    ),
    Rule(
        name="delivery",
        message="the delivery {id} does not fit its message and the turn that answers it",
        query=select(DeliveryRow.turn_id, DeliveryRow.id)
        .join(TurnRow, TurnRow.id == DeliveryRow.turn_id)
        .join(MessageRow, MessageRow.id == DeliveryRow.message_id)
        .where(
            or_(
                TurnRow.conversation_id != DeliveryRow.destination,
                MessageRow.conversation_id != DeliveryRow.destination,
                MessageRow.turn_id != DeliveryRow.turn_id,
                MessageRow.role != Role.USER,
            )
        ),
    ),
)
