"""Messages and their typed parts: what a conversation is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from runner.core.ids import ConversationId, ExecutionId, MessageId, TurnId
from runner.core.jsonvalue import JsonObject


class Role(StrEnum):
    """Whose message it is."""

    USER = "user"  #: What the turn was asked, or further input to it.
    ASSISTANT = "assistant"  #: A model's response.
    TOOL = "tool"  #: The result of one tool execution.
    CONTEXT = "context"  #: Live context, as of this place in the history.
    NOTICE = "notice"  #: What the runner itself tells the model, such as a request to answer.


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Plain text."""

    text: str
    #: Fields of the provider's own block beside its text, replayed unchanged.
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning; its text may be empty although the provider has it."""

    text: str
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What the model asked for."""

    call_id: str
    name: str
    arguments: JsonObject
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model reads of one tool execution."""

    call_id: str
    name: str
    content: JsonObject
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A block only the provider understands, replayed unchanged."""

    block: JsonObject


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """
    Which model made an assistant message, and bound to what.

    Thinking is replayed only to the same provider and model, under the same system prompt and
    tools, which is what *prefix* identifies.
    """

    provider: str
    model: str
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of a conversation, never edited."""

    id: MessageId
    conversation_id: ConversationId
    turn_id: TurnId
    role: Role
    parts: Sequence[Part]
    #: Place in the conversation, from 1; None while its turn has not started.
    seq: int | None = None
    #: The execution whose result this is.
    execution_id: ExecutionId | None = None
    #: Set on assistant messages.
    origin: Origin | None = None
    created_at: datetime | None = None

    @property
    def text(self) -> str:
        """The text parts, joined by blank lines."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))
