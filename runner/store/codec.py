"""Records as the JSON text and the columns that hold them, made before a transaction begins."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Final, TypeAlias, assert_never

from runner.core.approvals import NewApproval
from runner.core.authorization import AgentRef
from runner.core.contributing import Subject
from runner.core.ids import (
    TurnId,
)
from runner.core.jsonvalue import JsonObject, JsonValue, dump_json, storable, storable_text
from runner.core.messages import (
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from runner.core.model import Usage
from runner.core.records import (
    NewEvent,
    ToolExecution,
    TurnError,
)
from runner.core.tree import TreeLimits

#: The values of one row by the names of its columns.
Columns: TypeAlias = dict[str, object]

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


def object_from_json(text: str) -> JsonObject:
    value: JsonObject = json.loads(text)
    return value


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


def subject_to_json(subject: Subject | None) -> str | None:
    return None if subject is None else to_json(subject.as_json())
