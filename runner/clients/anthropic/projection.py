"""From a conversation's messages to those of the Messages API."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from runner.clients.anthropic.transcript_rules import NOT_IN_ASSISTANT_MESSAGES
from runner.core.jsonvalue import JsonObject, dump_json, storable, storable_text
from runner.core.messages import (
    Message,
    Opaque,
    Origin,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: The provider that assistant messages of this client are said to come from.
PROVIDER: Final = "anthropic"

_UNFIT_FOR_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME: Final = 64
#: The further fields that the API takes back. A response may have others, and a block that is sent
#: with one of those is refused, in every later request again.
_TEXT_FIELDS: Final = frozenset({"citations"})
_THINKING_FIELDS: Final = frozenset({"signature"})
_CALL_FIELDS: Final = frozenset({"caller", "toolset_name"})
#: Stands for a user message that says nothing; the API takes no empty ones.
_NO_TEXT: Final = "(no text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """One message of the request: a role and its content blocks."""

    role: str
    content: Sequence[JsonObject]

    @property
    def thinks_first(self) -> bool:
        return is_thinking(self.content[0])

    @property
    def calls_tools(self) -> bool:
        return any(block["type"] == "tool_use" for block in self.content)


def is_thinking(block: JsonObject) -> bool:
    return block["type"] in {"thinking", "redacted_thinking"}


def fit_name(name: str) -> str:
    """Return *name* as the API takes it; names that fit already stay as they are."""
    return _UNFIT_FOR_ID.sub("_", name)[:_MAX_NAME] or "_"


def project(
    messages: Sequence[Message], *, model: str, prefix: str, has_tools: bool = True
) -> tuple[WireMessage, ...]:
    """
    Write *messages* as the API wants them.

    What stands between two responses becomes one user message: first the results of all tool
    calls, in the order of the calls, then every text in its order. Assistant content is replayed as
    it came, but without empty texts, without blocks that another provider made, without thinking
    that nothing follows, and without thinking that was made by another model or under another
    system prompt or tool list, as *prefix* tells. What a message becomes does not depend on those
    that come after its reply, so that a longer conversation begins with the same bytes.

    Without tools of its own a request declares a stand-in once its history calls any
    (*has_tools* is false); then that is another tool list, under the same prefix.
    """
    calls_at_all = any(message.tool_calls for message in messages)
    writer = _Writer(model=model, prefix=prefix, needs_calls=calls_at_all and not has_tools)
    for is_assistant, run in groupby(messages, key=lambda message: message.role is Role.ASSISTANT):
        if is_assistant:
            writer.add("assistant", writer.assistant_blocks(run))
        else:
            writer.add("user", writer.user_blocks(run))
    return writer.written


class _Writer:
    def __init__(self, *, model: str, prefix: str, needs_calls: bool) -> None:
        self._home = Origin(provider=PROVIDER, model=model, prefix=prefix)
        #: Whether thinking is replayed only where tools had been called before it.
        self._needs_calls = needs_calls
        self._messages: list[WireMessage] = []
        self._used_ids = set[str]()
        #: The ids of the last response's tool calls as they are sent, in call order.
        self._open_ids: dict[str, str] = {}

    @property
    def written(self) -> tuple[WireMessage, ...]:
        return tuple(self._messages)

    def add(self, role: str, blocks: Sequence[JsonObject]) -> None:
        if not blocks:
            return
        if self._messages and self._messages[-1].role == role:
            blocks = [*self._messages.pop().content, *blocks]
        self._messages.append(WireMessage(role=role, content=blocks))

    def assistant_blocks(self, run: Iterable[Message]) -> Sequence[JsonObject]:
        self._open_ids = {}
        blocks = [block for message in run for block in self._replay(message)]
        while blocks and is_thinking(blocks[-1]):
            blocks.pop()
        return blocks

    def user_blocks(self, run: Iterable[Message]) -> Sequence[JsonObject]:
        messages = tuple(run)
        results = [part for message in messages for part in _results(message)]
        order = list(self._open_ids)
        results.sort(
            key=lambda result: (
                order.index(result.call_id) if result.call_id in order else len(order)
            )
        )
        texts = [block for message in messages for block in _texts(message)]
        return [*(self._tool_result(result) for result in results), *texts]

    def _replay(self, message: Message) -> Iterator[JsonObject]:
        is_own = message.origin is not None and message.origin.provider == PROVIDER
        had_tools = bool(self._used_ids) or not self._needs_calls
        may_think = message.origin == self._home and had_tools
        for part in message.parts:
            block = self._assistant_block(part, is_own=is_own)
            if block is not None and (may_think or not is_thinking(block)):
                yield block

    def _assistant_block(self, part: Part, *, is_own: bool) -> JsonObject | None:
        extra = _sent_back(part) if is_own else {}
        match part:
            case Text() if part.text.strip():
                return {"type": "text", "text": storable_text(part.text), **extra}
            case Thinking() if extra.get("signature"):
                return {"type": "thinking", "thinking": part.text, **extra}
            case ToolCall():
                return {
                    "type": "tool_use",
                    "id": self._new_id(part.call_id),
                    "name": fit_name(part.name),
                    "input": storable(part.arguments),
                    **extra,
                }
            case Opaque() if is_own and part.block.get("type") not in NOT_IN_ASSISTANT_MESSAGES:
                return part.block
            case _:
                return None

    def _new_id(self, call_id: str) -> str:
        """Return the id to send: other providers' ids may not fit, or come again."""
        fitted = _UNFIT_FOR_ID.sub("_", call_id) or "_"
        unique, repetition = fitted, 1
        while unique in self._used_ids:
            repetition += 1
            unique = f"{fitted}_{repetition}"
        self._used_ids.add(unique)
        self._open_ids[call_id] = unique
        return unique

    def _tool_result(self, result: ToolResult) -> JsonObject:
        return {
            "type": "tool_result",
            "tool_use_id": self._open_ids.get(result.call_id, result.call_id),
            "content": [_text_block(dump_json(result.content))],
            **({"is_error": True} if result.is_error else {}),
        }


def _sent_back(part: Part) -> JsonObject:
    """Return the fields of a block of ours, beside its main ones, that are replayed."""
    match part:
        case Text(extra=extra):
            taken = _TEXT_FIELDS
        case Thinking(extra=extra):
            taken = _THINKING_FIELDS
        case ToolCall(extra=extra):
            taken = _CALL_FIELDS
        case _:
            return {}
    return {key: value for key, value in extra.items() if key in taken}


def _results(message: Message) -> Iterator[ToolResult]:
    return (part for part in message.parts if isinstance(part, ToolResult))


def _texts(message: Message) -> Sequence[JsonObject]:
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text.strip()]
    if not texts and message.role is Role.USER:
        texts = [_NO_TEXT]
    return [_text_block(text) for text in texts]


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": storable_text(text)}
