"""The Messages API's rules for a request, in the API's own words."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

from tests.servers import signatures
from tests.servers.replies import Block, Json
from tests.servers.signatures import blocks_of

_KNOWN_KEYS: Final = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking",
    "output_config", "stop_sequences", "metadata", "service_tier", "speed", "inference_geo",
    "container", "diagnostics", "cache_control", "stream",
}  # fmt: skip
#: The fields of each block: those it must have, and those it may have.
_USER_BLOCKS: Final = {
    "text": ({"text"}, {"cache_control", "citations"}),
    "tool_result": ({"tool_use_id"}, {"content", "is_error", "cache_control"}),
}
_ASSISTANT_BLOCKS: Final = {
    "text": ({"text"}, {"cache_control", "citations"}),
    "thinking": ({"thinking", "signature"}, set()),
    "redacted_thinking": ({"data"}, set()),
    "tool_use": ({"id", "name", "input"}, {"cache_control", "caller", "toolset_name"}),
    "server_tool_use": ({"id", "name", "input"}, {"cache_control", "caller"}),
    "web_search_tool_result": ({"tool_use_id", "content"}, {"cache_control"}),
}
_THINKING: Final = ("thinking", "redacted_thinking")
_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,128}\Z")
_ID: Final = re.compile(r"^[a-zA-Z0-9_-]+\Z")
_PROPERTY: Final = re.compile(r"^[a-zA-Z0-9_.-]{1,64}\Z")
_NOT_STRICT: Final = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "maxItems", "uniqueItems", "oneOf", "allOf", "not", "patternProperties", "if",
}  # fmt: skip
_REJECTS_ENABLED: Final = (
    "claude-fable-5", "claude-mythos-5", "claude-opus-5", "claude-sonnet-5", "claude-opus-4-7",
    "claude-opus-4-8", "claude-haiku-5-5",
)  # fmt: skip
_REJECTS_DISABLED: Final = (
    "claude-fable-5", "claude-mythos-5", "claude-opus-5-5", "claude-sonnet-5-5",
)  # fmt: skip
_REJECTS_ADAPTIVE: Final = ("claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5")
_REJECTS_EFFORT: Final = ("claude-sonnet-4-5", "claude-haiku-4-5")


def first_fault(body: Json) -> str | None:
    """Return the message of the first rule that *body* breaks."""
    return next((fault for rule in _RULES for fault in rule(body)), None)


def _top_level(body: Json) -> Iterator[str]:
    for key in body.keys() - _KNOWN_KEYS:
        yield f"{key}: Extra inputs are not permitted"
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            yield f"{key}: Field required"
    if not 1 <= body["max_tokens"] <= 128_000:
        yield f"max_tokens: {body['max_tokens']} is out of range"
    if len(body.get("metadata", {}).get("user_id") or "") > 256:
        yield "metadata.user_id: String should have at most 256 characters"


def _structure(body: Json) -> Iterator[str]:
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
    for n, message in enumerate(messages):
        for key in message.keys() - {"role", "content"}:
            yield f"messages.{n}.{key}: Extra inputs are not permitted"
        if message["role"] not in {"user", "assistant"}:
            yield (
                f'messages: Unexpected role "{message["role"]}". Allowed roles are "user" or '
                '"assistant"'
            )
        if not message["content"]:
            yield f"messages.{n}: {message['role']} messages must have non-empty content"
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    if messages[-1]["role"] == "assistant" and not any(
        block["type"] == "server_tool_use" for block in blocks_of(messages[-1])
    ):
        yield (
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )


def _blocks(body: Json) -> Iterator[str]:
    for n, message in enumerate(body["messages"]):
        shapes = _USER_BLOCKS if message["role"] == "user" else _ASSISTANT_BLOCKS
        for m, block in enumerate(blocks_of(message)):
            yield from _block(f"messages.{n}.content.{m}", block, shapes)


def _block(place: str, block: Block, shapes: dict[str, tuple[set[str], set[str]]]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in shapes:
        yield f"{place}: Input tag '{kind}' found using 'type' does not match any expected tag"
        return
    required, optional = shapes[kind]
    for key in required - block.keys():
        yield f"{place}.{kind}.{key}: Field required"
    for key in block.keys() - required - optional - {"type"}:
        yield f"{place}.{kind}.{key}: Extra inputs are not permitted"
    if None in block.values():
        yield f"{place}.{kind}: Input should not be null"
    if kind == "tool_use" and not isinstance(block["input"], dict):
        yield f"{place}.tool_use.input: Input should be a valid dictionary"


def _texts(body: Json) -> Iterator[str]:
    for _, block in _all_blocks(body):
        inner = block.get("content") if block["type"] == "tool_result" else None
        parts = inner if isinstance(inner, list) else []
        if block.get("is_error") and any(part["type"] != "text" for part in parts):
            yield "all content must be type `text` if `is_error` is true"
        for text in (part["text"] for part in [block, *parts] if part["type"] == "text"):
            if not text:
                yield "messages: text content blocks must be non-empty"
            if not text.strip():
                yield "messages: text content blocks must contain non-whitespace text"


def _all_blocks(body: Json) -> Iterator[tuple[str, Block]]:
    for message in body["messages"]:
        for block in blocks_of(message):
            yield message["role"], block


def _merged(body: Json) -> list[tuple[str, list[Block]]]:
    merged: list[tuple[str, list[Block]]] = []
    for message in body["messages"]:
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(blocks_of(message))
        else:
            merged.append((message["role"], list(blocks_of(message))))
    return merged


def _pairing(body: Json) -> Iterator[str]:
    merged = [*_merged(body), ("user", [])]
    expected: list[str] = []
    for n, (role, blocks) in enumerate(merged):
        if role == "user":
            yield from _answers(n, blocks, expected)
        expected = [block["id"] for block in blocks if block["type"] == "tool_use"]
    ids = [b["id"] for _, blocks in merged for b in blocks if b["type"] == "tool_use"]
    if len(ids) != len(set(ids)):
        yield "messages: `tool_use` ids must be unique"
    for n, message in enumerate(body["messages"][1:], start=1):
        split = [[b["type"] for b in blocks_of(m)] for m in (body["messages"][n - 1], message)]
        if all("tool_result" in types for types in split):
            yield f"messages.{n}: the results of one response stand in several messages"


def _answers(n: int, blocks: list[Block], expected: list[str]) -> Iterator[str]:
    given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    missing = [call_id for call_id in expected if call_id not in given]
    if missing:
        yield (
            f"messages.{n - 1}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message."
        )
    for call_id in given:
        if call_id not in expected:
            yield (
                f"messages.{n}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{call_id}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )
        if given.count(call_id) > 1:
            yield (
                f"messages.{n}.content.0: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {call_id}"
            )
    leading = [block["type"] for block in blocks[: len(expected)]]
    if leading.count("tool_result") != len(expected):
        yield (
            f"messages.{n}: Did not find {len(expected)} `tool_result` block(s) at the beginning "
            "of this message."
        )
    if given != expected:
        yield f"messages.{n}: the results are not in the order of the calls"


def _names(body: Json) -> Iterator[str]:
    for _, block in signatures.stream_of(body["messages"]):
        if block["type"] == "tool_use" and not (
            _ID.match(block["id"]) and _NAME.match(block["name"])
        ):
            yield "messages: tool_use: String should match pattern '^[a-zA-Z0-9_-]+$'"


def _tools(body: Json) -> Iterator[str]:
    tools = body.get("tools", [])
    for n, tool in enumerate(tools):
        yield from _tool(f"tools.{n}.custom", tool)
    if len({tool["name"] for tool in tools}) != len(tools):
        yield "tools: Tool names must be unique."
    if not tools and any(
        block["type"] in {"tool_use", "tool_result"} for _, block in _all_blocks(body)
    ):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools."
    if "tool_choice" in body and not tools:
        yield "tool_choice may only be specified while providing tools"


def _tool(place: str, tool: Json) -> Iterator[str]:
    for key in tool.keys() - {"name", "description", "input_schema", "strict", "cache_control"}:
        yield f"{place}.{key}: Extra inputs are not permitted"
    if not _NAME.match(tool["name"]):
        yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    schema = tool.get("input_schema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{place}.input_schema.type: Field required"
    elif {"oneOf", "allOf", "anyOf"} & schema.keys():
        yield f"{place}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    elif not all(_PROPERTY.match(key) for key in schema.get("properties", {})):
        yield f"{place}: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"


def _cache(body: Json) -> Iterator[str]:
    entries = [
        *body.get("tools", []),
        *(body["system"] if isinstance(body.get("system"), list) else []),
        *(block for message in body["messages"] for block in blocks_of(message)),
    ]
    inner = [
        part
        for entry in entries
        if isinstance(entry.get("content"), list)
        for part in entry["content"]
    ]
    marked = [entry for entry in [*entries, *inner] if "cache_control" in entry]
    count = len(marked) + ("cache_control" in body)
    if count > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {count}."
    lives = [entry["cache_control"].get("ttl", "5m") for entry in marked]
    if lives != sorted(lives, key=["1h", "5m"].index):
        yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    for entry in marked:
        if entry.get("type") == "text" and not entry["text"]:
            yield "cache_control cannot be set for empty text blocks"


def _thinking(body: Json) -> Iterator[str]:
    model, setting = body["model"], body.get("thinking", {})
    effort = body.get("output_config", {}).get("effort")
    match setting.get("type"):
        case "enabled":
            yield from _budget(body)
        case "disabled" if model.startswith(_REJECTS_DISABLED):
            yield '"thinking.type.disabled" is not supported for this model.'
        case "disabled" if model.startswith("claude-opus-5") and effort in {"xhigh", "max"}:
            yield '"thinking.type.disabled" is not supported at this effort.'
        case "adaptive" if model.startswith(_REJECTS_ADAPTIVE):
            yield "adaptive thinking is not supported on this model"
        case "between_tools" if not model.startswith("claude-sonnet-5-5"):
            yield '"thinking.type.between_tools" is not supported for this model.'
        case _:
            pass
    if effort and (
        effort not in {"low", "medium", "high", "xhigh", "max"} or model.startswith(_REJECTS_EFFORT)
    ):
        yield "output_config.effort: not supported for this model"


def _budget(body: Json) -> Iterator[str]:
    budget = body["thinking"].get("budget_tokens")
    if body["model"].startswith(_REJECTS_ENABLED):
        yield (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
            'and "output_config.effort" to control thinking behavior.'
        )
    if not isinstance(budget, int) or budget < 1024:
        yield ("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    elif budget >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    responses = [blocks for role, blocks in _merged(body) if role == "assistant"]
    if responses and any(block["type"] == "tool_use" for block in responses[-1]):
        kind = responses[-1][0]["type"]
        if kind not in _THINKING:
            yield f"Expected `thinking` or `redacted_thinking`, but found `{kind}`."


def _replayed_thinking(body: Json) -> Iterator[str]:
    seen: list[tuple[str, Block]] = []
    for role, block in signatures.stream_of(body["messages"]):
        if block["type"] in _THINKING:
            fault = signatures.fault(
                block, model=body["model"], before=signatures.before(body, seen)
            )
            if fault:
                yield f"messages.N.content.M: {fault}"
        seen.append((role, block))
    for role, blocks in _merged(body):
        if role == "assistant" and blocks[-1]["type"] in _THINKING:
            yield "The final block in an assistant message cannot be `thinking`."


def _output_format(body: Json) -> Iterator[str]:
    output_format = body.get("output_config", {}).get("format")
    if output_format is None:
        return
    if output_format.get("type") != "json_schema":
        yield "output_config.format.type: Input should be 'json_schema'"
    yield from _strict(output_format["schema"])


def _strict(schema: Json) -> Iterator[str]:
    place = "output_config.format.schema"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{place}: 'additionalProperties' must be set to false"
    for key in _NOT_STRICT & schema.keys():
        yield f"{place}: '{key}' is not supported"
    if schema.get("minItems", 0) not in {0, 1}:
        yield f"{place}: 'minItems' may only be 0 or 1"
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", []),
        *([schema["items"]] if "items" in schema else []),
    ]
    for part in inner:
        yield from _strict(part)


def _size(body: Json) -> Iterator[str]:
    if len(json.dumps(body)) > 32_000_000:
        yield "request_too_large"


_RULES: Final[tuple[Callable[[Json], Iterator[str]], ...]] = (
    _top_level,
    _structure,
    _blocks,
    _texts,
    _names,
    _pairing,
    _tools,
    _cache,
    _thinking,
    _replayed_thinking,
    _output_format,
    _size,
)
