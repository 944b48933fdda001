"""Records as the JSON text and the columns that hold them, written before a transaction begins."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Final, TypeAlias, TypeVar, assert_never

from sqlalchemy import RowMapping

from runner.core.approvals import Approval, NewApproval, Question
from runner.core.authorization import AgentRef
from runner.core.coordination import Delivery, Input, Outcome
from runner.core.cost import Cost
from runner.core.ids import (
    ApprovalId,
    ConversationId,
    DeliveryId,
    ExecutionId,
    InputId,
    MessageId,
    TurnId,
    WorkerId,
)
from runner.core.jsonvalue import JsonObject, JsonValue, dump_json, storable, storable_text
from runner.core.messages import (
    Message,
    Opaque,
    Origin,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from runner.core.model import Usage
from runner.core.records import Conversation, Event, NewEvent, ToolExecution, Turn, TurnError
from runner.core.tree import Place, TreeLimits, TreeUse

#: The values of one row by the names of its columns.
Columns: TypeAlias = dict[str, object]

T = TypeVar("T")

_PARTS: Final[Mapping[str, Callable[..., Part]]] = {
    "text": Text,
    "thinking": Thinking,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "opaque": Opaque,
}


def to_json(value: object) -> str:
    """Write *value* so that every database can hold it, and holds the same."""
    return dump_json(storable(value))


def to_json_or_null(value: object) -> str | None:
    return None if value is None else to_json(value)


def from_json(text: str | None) -> JsonValue:
    value: JsonValue = None if text is None else json.loads(text)
    return value


def _object(text: str) -> JsonObject:
    value: JsonObject = json.loads(text)
    return value


def _optional(kind: Callable[[str], T], text: str | None) -> T | None:
    return None if text is None else kind(text)


def parts_to_json(parts: Sequence[Part]) -> str:
    return to_json([_part_to_object(part) for part in parts])


def parts_from_json(text: str) -> tuple[Part, ...]:
    return tuple(_PARTS[body.pop("type")](**body) for body in json.loads(text))


def _part_to_object(part: Part) -> JsonObject:
    match part:
        case Text():
            return {"type": "text", "text": part.text, **_extra(part)}
        case Thinking():
            return {"type": "thinking", "text": part.text, **_extra(part)}
        case ToolCall():
            return {
                "type": "tool_call",
                "call_id": part.call_id,
                "name": part.name,
                "arguments": part.arguments,
                **_extra(part),
            }
        case ToolResult():
            return {
                "type": "tool_result",
                "call_id": part.call_id,
                "name": part.name,
                "content": part.content,
                "is_error": part.is_error,
            }
        case Opaque():
            return {"type": "opaque", "block": part.block}
        case _:
            assert_never(part)


def _extra(part: Text | Thinking | ToolCall) -> JsonObject:
    return {"extra": part.extra} if part.extra else {}


def error_to_json(error: TurnError | None) -> str | None:
    return None if error is None else to_json(asdict(error))


def usage_to_json(usage: Usage) -> str:
    return dump_json(asdict(usage))


def limits_to_json(limits: TreeLimits) -> str:
    return to_json(asdict(limits))


def message_columns(message: Message) -> Columns:
    return {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "turn_id": message.turn_id,
        "seq": message.seq,
        "role": message.role,
        "parts": parts_to_json(message.parts),
        "execution_id": message.execution_id,
        "origin": None if message.origin is None else to_json(asdict(message.origin)),
    }


def awaits_to_json(turn_ids: Sequence[TurnId]) -> str | None:
    return to_json(turn_ids) if turn_ids else None


def ancestors_to_json(ancestors: Sequence[AgentRef]) -> str:
    return to_json([asdict(each) for each in ancestors])


def approval_columns(turn_id: TurnId, new: NewApproval) -> Columns:
    """Return the columns of an approval, and for its times the turn and seconds to answer."""
    question = new.question
    return {
        "id": new.id,
        "turn_id": turn_id,
        "execution_id": new.execution_id,
        "agents": to_json(list(question.agents)),
        "tool": storable_text(question.tool),
        "arguments": to_json(question.arguments),
        "action": question.action,
        "policy": _text_or_null(question.policy),
        "rule": _text_or_null(question.rule),
        "source": _text_or_null(question.source),
        "layer": _text_or_null(question.layer),
        "reason": storable_text(question.reason),
        "asker": turn_id,
        "expires": new.expires.total_seconds(),
    }


def _text_or_null(text: str | None) -> str | None:
    return None if text is None else storable_text(text)


def execution_columns(execution: ToolExecution) -> Columns:
    return {
        "id": execution.id,
        "turn_id": execution.turn_id,
        "call_id": storable_text(execution.call_id),
        "tool": storable_text(execution.tool),
        "position": execution.position,
        "arguments": to_json(execution.arguments),
        "status": execution.status,
        "fence": execution.fence,
        "awaits": awaits_to_json(execution.awaits),
    }


def event_columns(turn_id: TurnId, event: NewEvent) -> Columns:
    return {"turn_id": turn_id, "kind": storable_text(event.kind), "body": to_json(event.body)}


def conversation_from(row: RowMapping) -> Conversation:
    return Conversation(
        id=ConversationId(row["id"]), agent=row["agent"], created_at=row["created_at"]
    )


def turn_from(row: RowMapping) -> Turn:
    # A row is not written again for the sake of what its end has made meaningless.
    has_ended = row["status"].is_ended
    return Turn(
        id=TurnId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        agent=row["agent"],
        definition_hash=row["definition_hash"],
        kind=row["kind"],
        status=row["status"],
        phase=row["phase"],
        place=_place_from(row),
        use=_use_from(row),
        lane=row["lane"],
        fence=row["fence"],
        step=row["step"],
        claims=row["claims"],
        iterations=row["iterations"],
        tool_executions=row["tool_executions"],
        awaits=_turn_ids_from(row["awaits"]),
        open_waits=0 if has_ended else row["open_waits"],
        waiters=0 if has_ended else row["waiters"],
        open_inputs=row["open_inputs"],
        open_approvals=0 if has_ended else row["open_approvals"],
        pause_requested=row["pause_requested"],
        cancel_requested=row["cancel_requested"],
        is_inline=row["is_inline"],
        callback_to=_optional(ConversationId, row["callback_to"]),
        attempts=row["attempts"],
        usage=Usage(**json.loads(row["usage"])),
        cost=Cost(usd=row["cost"], unpriced_requests=row["unpriced_requests"]),
        principal=_optional(_object, row["principal"]),
        context=_object(row["context"]),
        metadata=_object(row["metadata"]),
        result=row["result"],
        output_data=from_json(row["output_data"]),
        error=_error_from(row["error"]),
        worker_id=_optional(WorkerId, row["worker_id"]),
        lease_expires_at=row["lease_expires_at"],
        not_before=row["not_before"],
        deadline_at=row["deadline_at"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def _error_from(text: str | None) -> TurnError | None:
    return None if text is None else TurnError(**json.loads(text))


def _place_from(row: RowMapping) -> Place:
    parent = row["parent_id"]
    launched_by = row["launched_by"]
    return Place(
        root_id=TurnId(row["root_id"]),
        parent_id=None if parent is None else TurnId(parent),
        launched_by=None if launched_by is None else ExecutionId(launched_by),
        depth=row["depth"],
        hops=row["hops"],
        limits=TreeLimits(**json.loads(row["tree_limits"])),
        ancestors=tuple(AgentRef(**each) for each in json.loads(row["ancestors"])),
    )


def _use_from(row: RowMapping) -> TreeUse:
    return TreeUse(
        iterations=row["use_iterations"],
        tool_executions=row["use_tool_executions"],
        children=row["use_children"],
    )


def outcome_from(row: RowMapping) -> Outcome:
    return Outcome(
        turn_id=TurnId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        agent=row["agent"],
        status=row["status"],
        result=row["result"],
        output_data=from_json(row["output_data"]),
        error=_error_from(row["error"]),
    )


def input_from(row: RowMapping) -> Input:
    message_id = row["message_id"]
    return Input(
        id=InputId(row["id"]),
        key=row["key"],
        turn_id=TurnId(row["turn_id"]),
        position=row["position"],
        text=row["text"],
        message_id=None if message_id is None else MessageId(message_id),
    )


def delivery_from(row: RowMapping) -> Delivery:
    source = row["source"]
    return Delivery(
        id=DeliveryId(row["id"]),
        key=row["key"],
        source=None if source is None else ConversationId(source),
        destination=ConversationId(row["destination"]),
        text=row["text"],
        message_id=MessageId(row["message_id"]),
        turn_id=TurnId(row["turn_id"]),
        created_at=row["created_at"],
    )


def message_from(row: RowMapping) -> Message:
    execution = row["execution_id"]
    origin = row["origin"]
    return Message(
        id=MessageId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        turn_id=TurnId(row["turn_id"]),
        role=row["role"],
        parts=parts_from_json(row["parts"]),
        seq=row["seq"],
        execution_id=None if execution is None else ExecutionId(execution),
        origin=None if origin is None else Origin(**json.loads(origin)),
        created_at=row["created_at"],
    )


def execution_from(row: RowMapping) -> ToolExecution:
    return ToolExecution(
        id=ExecutionId(row["id"]),
        turn_id=TurnId(row["turn_id"]),
        call_id=row["call_id"],
        tool=row["tool"],
        position=row["position"],
        arguments=_object(row["arguments"]),
        status=row["status"],
        fence=row["fence"],
        awaits=_turn_ids_from(row["awaits"]),
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def approval_from(row: RowMapping) -> Approval:
    return Approval(
        id=ApprovalId(row["id"]),
        turn_id=TurnId(row["turn_id"]),
        execution_id=ExecutionId(row["execution_id"]),
        question=Question(
            agents=tuple(json.loads(row["agents"])),
            tool=row["tool"],
            arguments=_object(row["arguments"]),
            action=row["action"],
            policy=row["policy"],
            rule=row["rule"],
            source=row["source"],
            layer=row["layer"],
            reason=row["reason"],
        ),
        asked_at=row["asked_at"],
        expires_at=row["expires_at"],
        answer=row["answer"],
        answered_at=row["answered_at"],
        answered_by=_optional(_object, row["answered_by"]),
        answer_reason=row["answer_reason"],
    )


def event_from(row: RowMapping) -> Event:
    return Event(
        id=row["id"],
        turn_id=TurnId(row["turn_id"]),
        kind=row["kind"],
        body=_object(row["body"]),
        at=row["at"],
    )


def _turn_ids_from(text: str | None) -> tuple[TurnId, ...]:
    return tuple(TurnId(turn_id) for turn_id in json.loads(text or "[]"))
