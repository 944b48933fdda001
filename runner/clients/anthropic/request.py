"""The body of a request to the Messages API: a pure function of what is asked."""

from collections.abc import Mapping, Sequence

from runner.clients.anthropic.caching import mark_last, mark_tail
from runner.clients.anthropic.models import traits_of
from runner.clients.anthropic.output_format import fit
from runner.clients.anthropic.projection import WireMessage, project
from runner.clients.anthropic.thinking import thinking_fields
from runner.core.jsonvalue import JsonObject, JsonValue, storable_text
from runner.core.model import ModelRequest, ToolSpec


def build_body(request: ModelRequest) -> JsonObject:
    """Write *request* as the JSON that is posted."""
    messages = project(
        request.messages,
        model=request.model,
        prefix=request.prefix,
        has_tools=bool(request.tools),
    )
    thinking = thinking_fields(request.model, request.thinking, max_tokens=request.max_tokens)
    system = _system(request.system)
    tools = _tools(request.tools)
    fields: dict[str, JsonValue] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "stream": True,
        "thinking": _possible(thinking.thinking, messages),
        "output_config": _output_config(request, thinking.effort),
        "metadata": {"user_id": request.user_id} if request.user_id else None,
        "tools": tools if system else mark_last(tools),
        "system": mark_last(system),
        **({} if tools else _stand_in(messages)),
        "messages": [
            {"role": message.role, "content": message.content} for message in mark_tail(messages)
        ],
    }
    return {key: value for key, value in fields.items() if value or key == "messages"}


def _system(text: str) -> Sequence[JsonObject]:
    return [{"type": "text", "text": storable_text(text)}] if text.strip() else []


def _tools(tools: Sequence[ToolSpec]) -> Sequence[JsonObject]:
    return [
        {
            "name": tool.name,
            "description": storable_text(tool.description),
            "input_schema": {"type": "object", **tool.parameters},
        }
        for tool in tools
    ]


def _stand_in(messages: Sequence[WireMessage]) -> JsonObject:
    """
    Declare a tool for an agent that has none any more but whose history calls some.

    Not every endpoint takes a history with tool calls in a request without tools.
    """
    if not any(message.calls_tools for message in messages):
        return {}
    return {
        "tools": [
            {
                "name": "no_longer_available",
                "description": "Stands for tools that were there before.",
                "input_schema": {"type": "object"},
            }
        ],
        "tool_choice": {"type": "none"},
    }


def _output_config(request: ModelRequest, effort: str | None) -> JsonObject:
    schema = request.output_schema
    fitted = fit(schema) if schema and traits_of(request.model).structured_output else None
    return {
        **({"effort": effort} if effort else {}),
        **({"format": {"type": "json_schema", "schema": fitted}} if fitted else {}),
    }


def _possible(thinking: JsonObject | None, messages: Sequence[WireMessage]) -> JsonObject | None:
    """
    Leave a budget for thinking out where the history does not allow one.

    With a budget, a response whose tool calls are being answered must begin with its thinking, and
    that may have been left out, or made by a model that does not think.
    """
    if not isinstance(thinking, Mapping) or thinking["type"] != "enabled":
        return thinking
    responses = [message for message in messages if message.role == "assistant"]
    if responses and responses[-1].calls_tools and not responses[-1].thinks_first:
        return None
    return thinking
