"""The rules that transcripts keep: places without gaps, and each call with its one result."""

from typing import Final

from sqlalchemy import case, exists, func, not_, null, or_, select, true
from sqlalchemy.orm import aliased

from runner.core.messages import Role
from runner.core.states import ExecutionStatus
from runner.store.audit_rule import Rule
from runner.store.json_sql import json_field, json_items
from runner.store.tables import ApprovalRow, InputRow, MessageRow, ToolExecutionRow, TurnRow

_OPEN: Final = tuple(status for status in ExecutionStatus if not status.is_ended)
#: What may stand between a call and its result: other results, and what tools add to theirs.
_BETWEEN: Final = (Role.TOOL, Role.NOTICE)
_IS_OPEN: Final = ToolExecutionRow.status.in_(_OPEN)

_RESULT: Final = aliased(MessageRow, name="result")

_places = (
    select(
        MessageRow.conversation_id,
        func.count(MessageRow.seq).label("messages"),
        func.min(MessageRow.seq).label("first"),
        func.max(MessageRow.seq).label("last"),
    )
    .where(MessageRow.seq.is_not(None))
    .group_by(MessageRow.conversation_id)
    .subquery("places")
)
_in_lanes = (
    select(
        MessageRow.turn_id,
        MessageRow.seq,
        TurnRow.lane,
        func.lag(TurnRow.lane)
        .over(partition_by=MessageRow.conversation_id, order_by=MessageRow.seq)
        .label("before"),
    )
    .join(TurnRow, TurnRow.id == MessageRow.turn_id)
    .where(MessageRow.seq.is_not(None))
    .subquery("messages_in_lanes")
)
# Messages that may stand between a call and its result are in one section with it.
_sections = (
    select(
        MessageRow.id,
        MessageRow.turn_id,
        MessageRow.conversation_id,
        MessageRow.role,
        MessageRow.parts,
        MessageRow.execution_id,
        func.count(case((MessageRow.role.not_in(_BETWEEN), 1)))
        .over(partition_by=MessageRow.conversation_id, order_by=MessageRow.seq)
        .label("section"),
    )
    .where(MessageRow.seq.is_not(None))
    .cte("sections")
)
_last_section = (
    select(_sections.c.conversation_id, func.max(_sections.c.section).label("section"))
    .group_by(_sections.c.conversation_id)
    .subquery("last_section")
)
_said = json_items(_sections.c.parts, "said")
_call_id = json_field(_said.c.value, "call_id")
_calls = (
    select(
        _sections.c.turn_id,
        _sections.c.conversation_id,
        _sections.c.section,
        _call_id.label("call_id"),
    )
    .select_from(_sections)
    .join(_said, true())
    .where(_sections.c.role == Role.ASSISTANT, json_field(_said.c.value, "type") == "tool_call")
    .cte("calls")
)
_call_counts = (
    select(_calls.c.turn_id, _calls.c.call_id, func.count().label("calls"))
    .group_by(_calls.c.turn_id, _calls.c.call_id)
    .subquery("call_counts")
)
_answers = aliased(_sections, name="answers")
_in_call_order = select(
    ToolExecutionRow.turn_id,
    ToolExecutionRow.id,
    ToolExecutionRow.position,
    func.row_number()
    .over(partition_by=ToolExecutionRow.turn_id, order_by=ToolExecutionRow.position)
    .label("place"),
).subquery("in_call_order")
# A call that somebody had to approve is passed over until then, and by the calls behind it.
_results_in_call_order = (
    select(
        ToolExecutionRow.turn_id,
        ToolExecutionRow.id,
        ToolExecutionRow.position,
        _RESULT.seq,
        func.row_number()
        .over(partition_by=ToolExecutionRow.turn_id, order_by=ToolExecutionRow.position)
        .label("place"),
        func.lag(_RESULT.seq)
        .over(partition_by=ToolExecutionRow.turn_id, order_by=ToolExecutionRow.position)
        .label("seq_before"),
    )
    .outerjoin(_RESULT, _RESULT.execution_id == ToolExecutionRow.id)
    .where(~exists().where(ApprovalRow.execution_id == ToolExecutionRow.id))
    .subquery("results_in_call_order")
)
_in_input_order = (
    select(
        InputRow.turn_id,
        InputRow.id,
        InputRow.position,
        InputRow.message_id,
        MessageRow.seq,
        func.row_number()
        .over(partition_by=InputRow.turn_id, order_by=InputRow.position)
        .label("place"),
        func.max(MessageRow.seq)
        .over(partition_by=InputRow.turn_id, order_by=InputRow.position)
        .label("seq_so_far"),
    )
    .outerjoin(MessageRow, MessageRow.id == InputRow.message_id)
    .subquery("in_input_order")
)
_result_part = json_items(_RESULT.parts, "result_part")

RULES: Final = (
    Rule(
        name="places",
        message="the conversation {conversation_id} has {messages} messages, "
        "at places {first} to {last}",
        query=select(null().label("turn_id"), _places).where(
            or_(_places.c.first != 1, _places.c.last != _places.c.messages)
        ),
    ),
    Rule(
        name="unplaced",
        message="the message {id} has no place, and its turn has started",
        query=select(MessageRow.turn_id, MessageRow.id)
        .join(TurnRow, TurnRow.id == MessageRow.turn_id)
        .where(MessageRow.seq.is_(None), TurnRow.started_at.is_not(None)),
    ),
    Rule(
        name="trigger",
        message="the turn has no message that asks for it",
        query=select(TurnRow.id.label("turn_id")).where(
            ~exists().where(MessageRow.turn_id == TurnRow.id, MessageRow.role == Role.USER)
        ),
    ),
    Rule(
        name="lane_order",
        message="the message at place {seq} belongs to lane {lane} and stands behind lane {before}",
        query=select(_in_lanes).where(_in_lanes.c.before > _in_lanes.c.lane),
    ),
    Rule(
        name="message_home",
        message="the message {id} stands in conversation {conversation_id}, its turn in {home}",
        query=select(
            MessageRow.turn_id,
            MessageRow.id,
            MessageRow.conversation_id,
            TurnRow.conversation_id.label("home"),
        )
        .join(TurnRow, TurnRow.id == MessageRow.turn_id)
        .where(MessageRow.conversation_id != TurnRow.conversation_id),
    ),
    Rule(
        name="result_missing",
        message="the tool execution {id} is {status} and has no result",
        query=select(ToolExecutionRow.turn_id, ToolExecutionRow.id, ToolExecutionRow.status)
        .outerjoin(_RESULT, _RESULT.execution_id == ToolExecutionRow.id)
        .where(not_(_IS_OPEN), _RESULT.id.is_(None)),
    ),
    Rule(
        name="result_early",
        message="the tool execution {id} is {status} and has a result",
        query=select(ToolExecutionRow.turn_id, ToolExecutionRow.id, ToolExecutionRow.status)
        .join(_RESULT, _RESULT.execution_id == ToolExecutionRow.id)
        .where(_IS_OPEN),
    ),
    Rule(
        name="result_of_another",
        message="the message {id} is no result of the call {call_id}, which its execution is for",
        query=select(ToolExecutionRow.turn_id, _RESULT.id, ToolExecutionRow.call_id)
        .join(_RESULT, _RESULT.execution_id == ToolExecutionRow.id)
        .join(_result_part, true())
        .where(
            or_(
                _RESULT.turn_id != ToolExecutionRow.turn_id,
                _RESULT.role != Role.TOOL,
                func.coalesce(json_field(_result_part.c.value, "call_id"), "")
                != ToolExecutionRow.call_id,
            )
        ),
    ),
    Rule(
        name="result_of_nothing",
        message="the message {id} is a result of no execution",
        query=select(MessageRow.turn_id, MessageRow.id).where(
            MessageRow.role == Role.TOOL, MessageRow.execution_id.is_(None)
        ),
    ),
    Rule(
        name="result_order",
        message="the result of call {position} does not stand behind those of the calls before it",
        query=select(_results_in_call_order).where(
            _results_in_call_order.c.seq.is_not(None),
            _results_in_call_order.c.place > 1,
            func.coalesce(_results_in_call_order.c.seq_before, _results_in_call_order.c.seq)
            >= _results_in_call_order.c.seq,
        ),
    ),
    Rule(
        name="call_positions",
        message="the tool execution {id} is call {position} of its turn in place of {place}",
        query=select(_in_call_order).where(_in_call_order.c.place != _in_call_order.c.position),
    ),
    Rule(
        name="call_unplanned",
        message="the call {call_id} has no tool execution",
        query=select(_calls.c.turn_id, _calls.c.call_id)
        .outerjoin(
            ToolExecutionRow,
            (ToolExecutionRow.turn_id == _calls.c.turn_id)
            & (ToolExecutionRow.call_id == _calls.c.call_id),
        )
        .where(ToolExecutionRow.id.is_(None)),
    ),
    Rule(
        name="call_unknown",
        message="the tool execution {id} is for a call that was made {calls} times",
        query=select(
            ToolExecutionRow.turn_id,
            ToolExecutionRow.id,
            func.coalesce(_call_counts.c.calls, 0).label("calls"),
        )
        .outerjoin(
            _call_counts,
            (_call_counts.c.turn_id == ToolExecutionRow.turn_id)
            & (_call_counts.c.call_id == ToolExecutionRow.call_id),
        )
        .where(func.coalesce(_call_counts.c.calls, 0) != 1),
    ),
    Rule(
        name="said_before_result",
        message="something was said between the call {call_id} and its result",
        query=select(_calls.c.turn_id, _calls.c.call_id)
        .join(_last_section, _last_section.c.conversation_id == _calls.c.conversation_id)
        .join(
            ToolExecutionRow,
            (ToolExecutionRow.turn_id == _calls.c.turn_id)
            & (ToolExecutionRow.call_id == _calls.c.call_id),
        )
        .outerjoin(_answers, _answers.c.execution_id == ToolExecutionRow.id)
        .where(
            func.coalesce(_answers.c.section, _last_section.c.section) != _calls.c.section,
        ),
    ),
    Rule(
        name="input_positions",
        message="the input {id} is number {position} of its turn in place of {place}",
        query=select(_in_input_order).where(_in_input_order.c.place != _in_input_order.c.position),
    ),
    Rule(
        name="input_order",
        message="the input {id} stands before one that was given earlier",
        query=select(_in_input_order).where(_in_input_order.c.seq < _in_input_order.c.seq_so_far),
    ),
)
