"""The rules that each turn keeps by itself: its outcome, its events, who is responsible for it."""

from datetime import timedelta
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    not_,
    null,
    or_,
    select,
)
from sqlalchemy.orm import aliased

from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.audit_rule import Rule
from runner.store.clock import db_now_plus
from runner.store.conditions import has_status
from runner.store.tables import (
    ENDED_STATUSES,
    ConversationRow,
    EventRow,
    InputRow,
    ToolExecutionRow,
    TurnRow,
)

#: However busy the workers are, a sweep comes by within this time.
LONG_AGO: Final = timedelta(minutes=-5)

_OPEN: Final = tuple(status for status in ExecutionStatus if not status.is_ended)
_ENDINGS: Final = tuple(f"turn.{status.value}" for status in ENDED_STATUSES)
_BEGINNINGS: Final = ("turn.prepared", "turn.submitted", "turn.started")
_CLAIMS: Final = ("turn.started", "turn.resumed")
_TOLD: Final = ("delivery.sent", "delivery.dropped")
_OWN_ENDING: Final = literal("turn.") + cast(TurnRow.status, Text)
_HAS_ENDED: Final = TurnRow.ended_at.is_not(None)
_EARLIER: Final = aliased(EventRow, name="earlier_event")


def _count(*kinds: str) -> ColumnElement[int]:
    """Count a turn's events of these kinds, where turns are joined with them and grouped."""
    return func.count(case((EventRow.kind.in_(kinds), 1)))


_events = (
    select(
        TurnRow.id.label("turn_id"),
        TurnRow.status,
        TurnRow.fence,
        TurnRow.iterations,
        TurnRow.ended_at,
        _count(*_ENDINGS).label("endings"),
        func.count(case((EventRow.kind == literal("turn.") + cast(TurnRow.status, Text), 1))).label(
            "own"
        ),
        _count(*_CLAIMS).label("claims"),
        _count("model.responded").label("responses"),
    )
    .outerjoin(EventRow, EventRow.turn_id == TurnRow.id)
    .group_by(TurnRow.id)
    .subquery("turn_events")
)
_lanes = (
    select(
        ConversationRow.id.label("conversation_id"),
        ConversationRow.lanes,
        func.count(TurnRow.lane).label("taken"),
        func.coalesce(func.max(TurnRow.lane), 0).label("last"),
    )
    .outerjoin(TurnRow, TurnRow.conversation_id == ConversationRow.id)
    .group_by(ConversationRow.id)
    .subquery("lanes_taken")
)
_has_right_outcome = case(
    (
        has_status(TurnRow.status, TurnStatus.COMPLETED),
        TurnRow.result.is_not(None) & TurnRow.error.is_(None),
    ),
    (
        has_status(TurnRow.status, TurnStatus.FAILED),
        TurnRow.result.is_(None) & TurnRow.error.is_not(None),
    ),
    else_=TurnRow.result.is_(None) & TurnRow.error.is_(None),
)

RULES: Final = (
    Rule(
        name="open_execution",
        message="the turn has ended, and its tool execution {id} is {execution}",
        query=select(
            TurnRow.id.label("turn_id"),
            ToolExecutionRow.id,
            ToolExecutionRow.status.label("execution"),
        )
        .join(ToolExecutionRow, ToolExecutionRow.turn_id == TurnRow.id)
        .where(_HAS_ENDED, ToolExecutionRow.status.in_(_OPEN)),
    ),
    Rule(
        name="open_input",
        message="the turn has ended, and its input {id} became no message",
        query=select(TurnRow.id.label("turn_id"), InputRow.id)
        .join(InputRow, InputRow.turn_id == TurnRow.id)
        # What was never submitted takes what was said to it along.
        .where(_HAS_ENDED, TurnRow.lane.is_not(None), InputRow.message_id.is_(None)),
    ),
    Rule(
        name="outcome",
        message="the turn is {status} with the wrong kind of outcome",
        query=select(TurnRow.id.label("turn_id"), TurnRow.status).where(not_(_has_right_outcome)),
    ),
    Rule(
        name="ending_event",
        message="the turn is {status} and has {endings} events of an end, {own} of them its own",
        query=select(_events).where(
            case(
                (_events.c.ended_at.is_(None), _events.c.endings > 0),
                else_=or_(_events.c.endings != 1, _events.c.own != 1),
            )
        ),
    ),
    Rule(
        name="first_event",
        message="the turn does not begin with an event of its beginning",
        query=select(TurnRow.id.label("turn_id")).where(
            ~exists().where(
                EventRow.turn_id == TurnRow.id,
                EventRow.kind.in_(_BEGINNINGS),
                ~exists().where(_EARLIER.turn_id == EventRow.turn_id, _EARLIER.id < EventRow.id),
            )
        ),
    ),
    Rule(
        name="claim_events",
        message="the turn was claimed {fence} times and has {claims} events of that",
        query=select(_events).where(_events.c.claims != _events.c.fence),
    ),
    Rule(
        name="requests",
        message="the turn reserved {iterations} model requests and has {responses} responses",
        query=select(_events).where(
            not_(_events.c.iterations.between(_events.c.responses, _events.c.responses + 1))
        ),
    ),
    Rule(
        name="started",
        message="the turn has fence {fence}, which does not fit when it started",
        query=select(TurnRow.id.label("turn_id"), TurnRow.fence).where(
            (TurnRow.fence > 0) != TurnRow.started_at.is_not(None)
        ),
    ),
    Rule(
        name="execution_mark",
        message="the tool execution {id} is running under fence {fence} of {claims}",
        query=select(
            TurnRow.id.label("turn_id"),
            ToolExecutionRow.id,
            ToolExecutionRow.fence,
            TurnRow.fence.label("claims"),
        )
        .join(ToolExecutionRow, ToolExecutionRow.turn_id == TurnRow.id)
        .where(
            ToolExecutionRow.status == ExecutionStatus.RUNNING,
            not_(func.coalesce(ToolExecutionRow.fence, 0).between(1, TurnRow.fence)),
        ),
    ),
    Rule(
        name="claim_left",
        message="nobody took the turn back from worker {worker_id}, whose lease is long over",
        query=select(TurnRow.id.label("turn_id"), TurnRow.worker_id).where(
            has_status(TurnRow.status, TurnStatus.RUNNING),
            TurnRow.lease_expires_at < db_now_plus(LONG_AGO),
        ),
    ),
    Rule(
        name="callback_owed",
        message="the conversation {callback_to} is owed word of the turn's end for long",
        query=select(TurnRow.id.label("turn_id"), TurnRow.callback_to).where(
            TurnRow.callback_due < db_now_plus(LONG_AGO)
        ),
    ),
    Rule(
        name="callback_untold",
        message="the conversation {callback_to} is owed nothing and was told nothing",
        query=select(TurnRow.id.label("turn_id"), TurnRow.callback_to).where(
            _HAS_ENDED,
            TurnRow.callback_to.is_not(None),
            TurnRow.callback_due.is_(None),
            ~exists().where(EventRow.turn_id == TurnRow.id, EventRow.kind.in_(_TOLD)),
        ),
    ),
    Rule(
        name="lanes",
        message="the conversation {conversation_id} gave out {lanes} lanes, "
        "and its turns have {taken}, the last being {last}",
        query=select(null().label("turn_id"), _lanes).where(
            not_(and_(_lanes.c.lanes == _lanes.c.taken, _lanes.c.lanes == _lanes.c.last))
        ),
    ),
)
