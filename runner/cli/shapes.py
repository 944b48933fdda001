"""Records as the JSON that programs read; keys are added here but never change their meaning."""

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from runner.cli.total import Total
from runner.core.approvals import Approval
from runner.core.coordination import Delivery, Input, Receipts
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from runner.core.model import Usage
from runner.core.records import Event, ToolExecution, Turn, TurnError
from runner.core.tree import TreeUse
from runner.definitions.snapshot import ResolvedAgent


def turn_json(turn: Turn) -> JsonObject:
    return {
        "id": turn.id,
        "conversation_id": turn.conversation_id,
        "agent": turn.agent,
        "definition_hash": turn.definition_hash,
        "kind": turn.kind.value,
        "status": turn.status.value,
        "phase": turn.phase.value,
        "place": {
            "root_id": turn.place.root_id,
            "parent_id": turn.place.parent_id,
            "launched_by": turn.place.launched_by,
            "depth": turn.place.depth,
        },
        "tree": _use_json(turn.use) if turn.place.is_root else None,
        "awaits": list(turn.awaits),
        "open_waits": 0 if turn.status.is_ended else turn.open_waits,
        "open_inputs": turn.open_inputs,
        "open_approvals": turn.open_approvals,
        "pause_requested": turn.pause_requested,
        "cancel_requested": turn.cancel_requested,
        "callback_to": turn.callback_to,
        "iterations": turn.iterations,
        "tool_executions": turn.tool_executions,
        "usage": usage_json(turn.usage),
        **turn.cost.as_json(),
        "result": turn.result,
        "output_data": turn.output_data,
        "error": _error_json(turn.error),
        "principal": turn.principal,
        "context": turn.context,
        "metadata": turn.metadata,
        "worker_id": turn.worker_id,
        "lease_expires_at": _time(turn.lease_expires_at),
        "not_before": _time(turn.not_before),
        "deadline_at": _time(turn.deadline_at),
        "created_at": _time(turn.created_at),
        "started_at": _time(turn.started_at),
        "ended_at": _time(turn.ended_at),
    }


def approval_json(approval: Approval) -> JsonObject:
    question = approval.question
    return {
        "id": approval.id,
        "turn_id": approval.turn_id,
        "execution_id": approval.execution_id,
        "agents": list(question.agents),
        "tool": question.tool,
        "arguments": question.arguments,
        "action": question.action.value,
        "policy": question.policy,
        "rule": question.rule,
        "source": question.source,
        "layer": question.layer,
        "reason": question.reason,
        "asked_at": _time(approval.asked_at),
        "expires_at": _time(approval.expires_at),
        "answer": None if approval.answer is None else approval.answer.value,
        "answered_at": _time(approval.answered_at),
        "answered_by": approval.answered_by,
        "answer_reason": approval.answer_reason,
    }


def usage_json(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "thinking_tokens": usage.thinking_tokens,
    }


def total_json(turns: Sequence[Turn]) -> JsonObject:
    total = Total.of(turns)
    return {
        "turns": total.turns,
        "iterations": total.iterations,
        "tool_executions": total.tool_executions,
        "usage": usage_json(total.usage),
        **total.cost.as_json(),
    }


def execution_json(execution: ToolExecution, result: ToolResult | None) -> JsonObject:
    return {
        "id": execution.id,
        "call_id": execution.call_id,
        "tool": execution.tool,
        "position": execution.position,
        "arguments": execution.arguments,
        "status": execution.status.value,
        "awaits": list(execution.awaits),
        "result": None if result is None else result.content,
        "started_at": _time(execution.started_at),
        "ended_at": _time(execution.ended_at),
    }


def event_json(event: Event) -> JsonObject:
    return {
        "id": event.id,
        "turn_id": event.turn_id,
        "kind": event.kind,
        "body": event.body,
        "at": event.at.isoformat(),
    }


def input_json(given: Input) -> JsonObject:
    return {
        "id": given.id,
        "key": given.key,
        "turn_id": given.turn_id,
        "position": given.position,
        "text": given.text,
        "message_id": given.message_id,
    }


def delivery_json(delivery: Delivery) -> JsonObject:
    return {
        "id": delivery.id,
        "key": delivery.key,
        "source": delivery.source,
        "destination": delivery.destination,
        "text": delivery.text,
        "message_id": delivery.message_id,
        "turn_id": delivery.turn_id,
        "created_at": delivery.created_at.isoformat(),
    }


def receipts_json(receipts: Receipts) -> JsonObject:
    return {
        "turns": [
            {
                "turn_id": receipt.turn_id,
                "state": receipt.state.value,
                "status": receipt.status.value,
            }
            for receipt in receipts.turns
        ]
    }


def message_json(message: Message) -> JsonObject:
    return {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "turn_id": message.turn_id,
        "seq": message.seq,
        "role": message.role.value,
        "parts": [part_json(part) for part in message.parts],
        "model": None if message.origin is None else message.origin.model,
        "created_at": _time(message.created_at),
    }


def part_json(part: Part) -> JsonObject:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text):
            return {"type": "thinking", "text": text}
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return {"type": "tool_call", "call_id": call_id, "name": name, "arguments": arguments}
        case ToolResult():
            return {
                "type": "tool_result",
                "call_id": part.call_id,
                "name": part.name,
                "content": part.content,
                "is_error": part.is_error,
            }
        case Opaque(block=content):
            return {"type": "provider", "block": content}
        case _:
            assert_never(part)


def agent_json(agent: ResolvedAgent) -> JsonObject:
    model = agent.model
    return {
        "name": agent.name,
        "description": agent.description,
        "model": {"alias": model.alias, "client": model.client, "model": model.model},
        "tools": [tool.name for tool in agent.tools],
        "takes_input": agent.input_schema is not None,
        "definition_hash": agent.content_hash(),
    }


def _use_json(use: TreeUse) -> JsonObject:
    return {
        "iterations": use.iterations,
        "tool_executions": use.tool_executions,
        "children": use.children,
    }


def _error_json(error: TurnError | None) -> JsonValue:
    if error is None:
        return None
    return {"code": error.code, "message": error.message, "details": error.details}


def _time(at: datetime | None) -> JsonValue:
    return None if at is None else at.isoformat()
