"""A request as plain JSON, in no provider's shape."""

from collections.abc import Sequence
from typing import Final

from runner.core.jsonvalue import JsonObject, JsonValue, dump_json
from runner.core.messages import Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from runner.core.model import ModelRequest, Usage

#: What a token is taken to be, where nobody counts.
_CHARS_PER_TOKEN: Final = 4


def describe(request: ModelRequest) -> JsonObject:
    """Write out *request* as far as a model would read it."""
    body: dict[str, JsonValue] = {
        "agent": request.agent,
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "messages": [_message(message) for message in request.messages],
    }
    return {**body, "output_schema": request.output_schema} if request.output_schema else body


def estimate_tokens(request: ModelRequest, answer: Sequence[Part]) -> Usage:
    """Estimate by length what a model would have counted."""
    return Usage(
        input_tokens=len(dump_json(describe(request))) // _CHARS_PER_TOKEN,
        output_tokens=len(dump_json([_part(part) for part in answer])) // _CHARS_PER_TOKEN,
        thinking_tokens=sum(len(part.text) for part in answer if isinstance(part, Thinking))
        // _CHARS_PER_TOKEN,
    )


def _message(message: Message) -> JsonObject:
    return {"role": message.role.value, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> JsonObject:
    match part:
        case Text():
            return {"text": part.text}
        case Thinking():
            return {"thinking": part.text}
        case ToolCall():
            return {
                "tool_call": {"id": part.call_id, "name": part.name, "arguments": part.arguments}
            }
        case ToolResult():
            return {
                "tool_result": {
                    "id": part.call_id,
                    "name": part.name,
                    "content": part.content,
                    "is_error": part.is_error,
                }
            }
        case Opaque():
            return part.block
