"""The rules that a request must keep, checked before it is sent."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from runner.core.jsonvalue import JsonObject, JsonValue, dump_json

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_MAX_MARKS: Final = 4
_SMALLEST_BUDGET: Final = 1024
_MAX_USER_ID: Final = 256
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_IN_USER_MESSAGES: Final = frozenset({"text", "tool_result"})
#: Blocks that the API refuses in an assistant message.
NOT_IN_ASSISTANT_MESSAGES: Final = frozenset({"tool_result", "document", "image"})
_COMBINED: Final = frozenset({"oneOf", "allOf", "anyOf"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    place: str
    role: JsonValue
    blocks: Sequence[JsonObject]

    def of_type(self, *types: str) -> Sequence[JsonObject]:
        return [block for block in self.blocks if block.get("type") in types]


def complaints(body: JsonObject) -> tuple[str, ...]:
    """Say which rules *body* breaks, each in a sentence that begins with the place."""
    messages = _messages(body)
    return tuple(
        complaint for rule in (_encoding, _settings, _tools, _marks) for complaint in rule(body)
    ) + tuple(
        complaint
        for rule in (_order, _contents, _identifiers, _pairs)
        for complaint in rule(messages)
    )


def _messages(body: JsonObject) -> Sequence[_Message]:
    return [
        _Message(
            place=f"messages.{index}",
            role=message.get("role"),
            blocks=_objects(message.get("content")),
        )
        for index, message in enumerate(_objects(body.get("messages")))
    ]


def _encoding(body: JsonObject) -> Iterator[str]:
    try:
        dump_json(body).encode()
    except (ValueError, RecursionError):
        yield "body: it holds something that JSON in UTF-8 cannot, such as NaN or half a character"


def _settings(body: JsonObject) -> Iterator[str]:
    thinking, max_tokens = _object(body.get("thinking")), body.get("max_tokens")
    if not isinstance(max_tokens, int) or max_tokens < 1:
        yield "max_tokens: it must be at least 1"
    elif thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or not _SMALLEST_BUDGET <= budget < max_tokens:
            yield "thinking.budget_tokens: it must be at least 1024 and less than max_tokens"
    user_id = _object(body.get("metadata")).get("user_id")
    if isinstance(user_id, str) and len(user_id) > _MAX_USER_ID:
        yield "metadata.user_id: it is longer than 256 characters"


def _tools(body: JsonObject) -> Iterator[str]:
    tools = _objects(body.get("tools"))
    names = Counter(str(tool.get("name")) for tool in tools)
    for name, count in names.items():
        if not _TOOL_NAME.fullmatch(name):
            yield f"tools: the name {name!r} must be 1 to 128 letters, digits, '_' and '-'"
        if count > 1:
            yield f"tools: {name!r} is declared {count} times"
    for index, tool in enumerate(tools):
        yield from _input_schema(f"tools.{index}.input_schema", _object(tool.get("input_schema")))
    if not tools and any(message.of_type("tool_use", "tool_result") for message in _messages(body)):
        yield "tools: the messages hold tool calls, but no tools are declared"


def _input_schema(place: str, schema: JsonObject) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"{place}: its type must be 'object'"
    for key in sorted(_COMBINED & schema.keys()):
        yield f"{place}: {key!r} cannot stand at the top"
    for name in _object(schema.get("properties")):
        if not _PROPERTY.fullmatch(name):
            yield f"{place}: the property {name!r} must be 1 to 64 of letters, digits, '_.-'"


def _marks(body: JsonObject) -> Iterator[str]:
    places = [
        *_objects(body.get("tools")),
        *_objects(body.get("system")),
        *(block for message in _messages(body) for block in message.blocks),
    ]
    marked = [block for block in places if "cache_control" in block]
    if len(marked) > _MAX_MARKS:
        yield f"cache_control: {len(marked)} blocks have it, at most {_MAX_MARKS} may"
    for block in marked:
        if block.get("type") in _THINKING:
            yield "cache_control: a thinking block cannot have it"


def _order(messages: Sequence[_Message]) -> Iterator[str]:
    if not messages:
        yield "messages: there must be at least one"
        return
    for message in messages:
        if message.role not in {"user", "assistant"}:
            yield f"{message.place}: the role {message.role!r} is neither 'user' nor 'assistant'"
        if not message.blocks:
            yield f"{message.place}: it has no content"
    if messages[0].role != "user":
        yield "messages.0: the first message must be the user's"
    last = messages[-1]
    if last.role == "assistant" and not last.of_type("server_tool_use"):
        yield f"{last.place}: the last message must be the user's"


def _contents(messages: Sequence[_Message]) -> Iterator[str]:
    for message in messages:
        for index, block in enumerate(message.blocks):
            yield from _block(f"{message.place}.content.{index}", message.role, block)
        if message.blocks and message.blocks[-1].get("type") in _THINKING:
            yield f"{message.place}: thinking cannot be its last block"


def _block(place: str, role: JsonValue, block: JsonObject) -> Iterator[str]:
    kind = block.get("type")
    if role == "user" and kind not in _IN_USER_MESSAGES:
        yield f"{place}: a block of type {kind!r} cannot be in a user message"
    if role == "assistant" and kind in NOT_IN_ASSISTANT_MESSAGES:
        yield f"{place}: a block of type {kind!r} cannot be in an assistant message"
    match kind:
        case "text" if not str(block.get("text") or "").strip():
            yield f"{place}: a text must hold more than white space"
        case "tool_use" if not isinstance(block.get("input"), Mapping):
            yield f"{place}: the input of a tool call must be an object"
        case "thinking" if not block.get("signature"):
            yield f"{place}: thinking without a signature cannot be sent"
        case "tool_result":
            parts = _objects(block.get("content"))
            if any(part.get("type") != "text" for part in parts) and block.get("is_error"):
                yield f"{place}: the result of a failed call may hold only text"
        case _:
            pass


def _identifiers(messages: Sequence[_Message]) -> Iterator[str]:
    seen = set[str]()
    for message in messages:
        for block in message.of_type("tool_use"):
            call_id, name = str(block.get("id")), str(block.get("name"))
            if not _ID.fullmatch(call_id) or not _TOOL_NAME.fullmatch(name):
                yield f"{message.place}: the call {call_id!r} of {name!r} has an unfit id or name"
            if call_id in seen:
                yield f"{message.place}: the id {call_id!r} was used for an earlier call"
            seen.add(call_id)


def _pairs(messages: Sequence[_Message]) -> Iterator[str]:
    """Hold each message's results against the calls of the message before it."""
    before = _Message(place="before the first message", role="assistant", blocks=())
    after = _Message(place="after the last message", role="user", blocks=())
    for message, follower in pairwise([before, *messages, after]):
        yield from _results_of(message, follower)


def _results_of(message: _Message, follower: _Message) -> Iterator[str]:
    calls = [str(call.get("id")) for call in message.of_type("tool_use")]
    results = Counter(str(r.get("tool_use_id")) for r in follower.of_type("tool_result"))
    for call_id in calls:
        if not results[call_id]:
            yield f"{follower.place}: the tool call {call_id!r} has no result"
    for call_id, count in results.items():
        if call_id not in calls:
            yield f"{follower.place}: a result answers {call_id!r}, which the last message lacks"
        elif count > 1:
            yield f"{follower.place}: the tool call {call_id!r} has {count} results"
    first = follower.blocks[: len(calls)]
    if results.total() == len(calls) and any(b.get("type") != "tool_result" for b in first):
        yield f"{follower.place}: tool results must come before anything else"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _objects(value: JsonValue) -> Sequence[JsonObject]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return [item for item in value if isinstance(item, Mapping)]
