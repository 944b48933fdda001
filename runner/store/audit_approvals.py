"""The rules of approvals: each asked once, of a call that waits for it, and answered once."""

from typing import Final

from sqlalchemy import ColumnElement, case, exists, func, not_, or_, select

from runner.core.approvals import Answer
from runner.core.states import ExecutionStatus
from runner.store.audit_rule import Query, Rule
from runner.store.audit_turns import LONG_AGO
from runner.store.clock import db_now_plus
from runner.store.json_sql import json_field
from runner.store.tables import ApprovalRow, EventRow, ToolExecutionRow, TurnRow

_IS_OPEN: Final = ApprovalRow.answered_at.is_(None)
#: In these nothing of a call has happened, nor will, unless somebody agrees.
_UNMADE: Final = (ExecutionStatus.ASKING, ExecutionStatus.REFUSED, ExecutionStatus.SKIPPED)


def _with_execution(*conditions: ColumnElement[bool]) -> Query:
    return (
        select(
            ApprovalRow.turn_id,
            ApprovalRow.id,
            ApprovalRow.answer,
            ToolExecutionRow.id.label("execution_id"),
            ToolExecutionRow.status,
        )
        .join(ToolExecutionRow, ToolExecutionRow.id == ApprovalRow.execution_id)
        .where(*conditions)
    )


_told = (
    select(
        ApprovalRow.turn_id,
        ApprovalRow.id,
        ApprovalRow.answer,
        func.count(case((EventRow.kind == "approval.requested", 1))).label("requested"),
        func.count(case((EventRow.kind == "approval.answered", 1))).label("answered"),
    )
    .outerjoin(
        EventRow,
        (EventRow.turn_id == ApprovalRow.turn_id)
        & EventRow.kind.in_(("approval.requested", "approval.answered"))
        & (json_field(EventRow.body, "approval_id") == ApprovalRow.id),
    )
    .group_by(ApprovalRow.id)
    .subquery("told")
)
_open_approvals = (
    select(func.count())
    .select_from(ApprovalRow)
    .where(ApprovalRow.turn_id == TurnRow.id, _IS_OPEN)
    .correlate(TurnRow)
    .scalar_subquery()
)

RULES: Final = (
    Rule(
        name="open_approvals",
        message="the turn counts {open_approvals} open approvals and has {approvals}",
        query=select(
            TurnRow.id.label("turn_id"),
            TurnRow.open_approvals,
            _open_approvals.label("approvals"),
        ).where(TurnRow.ended_at.is_(None), TurnRow.open_approvals != _open_approvals),
    ),
    Rule(
        name="asking_unasked",
        message="the tool execution {id} is asking, and there is no approval for it",
        query=select(ToolExecutionRow.turn_id, ToolExecutionRow.id).where(
            ToolExecutionRow.status == ExecutionStatus.ASKING,
            ~exists().where(ApprovalRow.execution_id == ToolExecutionRow.id),
        ),
    ),
    Rule(
        name="approval_pointless",
        message="the approval {id} is open, and its tool execution {execution_id} is {status}",
        query=_with_execution(_IS_OPEN, ToolExecutionRow.status != ExecutionStatus.ASKING),
    ),
    Rule(
        name="unapproved",
        message="the tool execution {execution_id} is {status}, and its approval {answer}",
        query=_with_execution(
            or_(_IS_OPEN, ApprovalRow.answer != Answer.APPROVED),
            ToolExecutionRow.status.not_in(_UNMADE),
        ),
    ),
    Rule(
        name="approved_otherwise",
        message="the approval {id} is for another call than the tool execution {execution_id}",
        query=_with_execution(
            or_(
                ApprovalRow.turn_id != ToolExecutionRow.turn_id,
                ApprovalRow.tool != ToolExecutionRow.tool,
                ApprovalRow.arguments != ToolExecutionRow.arguments,
            )
        ),
    ),
    Rule(
        name="approval_events",
        message="the approval {id} has {requested} events of its request, {answered} of an answer",
        query=select(_told).where(
            not_(
                (_told.c.requested == 1)
                & (_told.c.answered == case((_told.c.answer.is_(None), 0), else_=1))
            )
        ),
    ),
    Rule(
        name="approval_overdue",
        message="the approval {id} has long expired, and nobody has said so",
        query=select(ApprovalRow.turn_id, ApprovalRow.id).where(
            _IS_OPEN, ApprovalRow.expires_at < db_now_plus(LONG_AGO)
        ),
    ),
)
