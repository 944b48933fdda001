"""Records as the JSON that programs read; keys are added here but never change their meaning."""

from datetime import datetime
from typing import assert_never

from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from runner.core.model import Usage
from runner.core.records import Event, ToolExecution, Turn, TurnError
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
        "iterations": turn.iterations,
        "tool_executions": turn.tool_executions,
        "usage": usage_json(turn.usage),
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


def usage_json(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "thinking_tokens": usage.thinking_tokens,
    }


def execution_json(execution: ToolExecution, result: ToolResult | None) -> JsonObject:
    return {
        "id": execution.id,
        "call_id": execution.call_id,
        "tool": execution.tool,
        "position": execution.position,
        "arguments": execution.arguments,
        "status": execution.status.value,
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


def _error_json(error: TurnError | None) -> JsonValue:
    if error is None:
        return None
    return {"code": error.code, "message": error.message, "details": error.details}


def _time(at: datetime | None) -> JsonValue:
    return None if at is None else at.isoformat()
