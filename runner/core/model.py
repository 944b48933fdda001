"""What is asked of a model, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message, Part


class Effort(StrEnum):
    """How hard a model is asked to think."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingSetting:
    """
    How the model may think: adaptive, by effort, within a budget of tokens, or off.

    At most one of *effort* and *budget_tokens* is set; with neither, thinking is adaptive unless
    *off*.
    """

    effort: Effort | None = None
    budget_tokens: int | None = None
    off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """
    One request: a pure function of a snapshot and a stored transcript.

    *messages* are the conversation's in order, ending with what the model is to answer; the client
    turns them into its provider's shape. *agent* names who asks; the scripted client matches it.
    """

    agent: str
    model: str
    system: str
    messages: Sequence[Message]
    max_tokens: int
    tools: Sequence[ToolSpec] = ()
    thinking: ThinkingSetting | None = None
    output_schema: JsonObject | None = None
    #: Identifies system prompt and tool list; thinking made under another prefix is left out.
    prefix: str = ""
    #: Passed to the provider to tell end users apart; never their name.
    user_id: str | None = None


class StopReason(StrEnum):
    """Why the model stopped."""

    END = "end"  #: It had said all; an empty answer is still this.
    TOOL_CALLS = "tool_calls"  #: It asks for tools, and every call is complete.
    PAUSE = "pause"  #: The provider paused a long turn; sending the answer back continues it.
    MAX_TOKENS = "max_tokens"  #: Cut at the output limit; a tool call in it may be half a call.
    CONTEXT_FULL = "context_full"  #: Cut at the end of the context window.
    REFUSAL = "refusal"  #: The model declined; what it said so far is to be discarded.


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """
    Tokens of one or more requests.

    *input_tokens* are the uncached ones only: a prompt's length is the sum of input, cache read and
    cache write.
    *output_tokens* include thinking.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    thinking_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            thinking_tokens=self.thinking_tokens + other.thinking_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """
    One complete answer, from a stream that ended properly.

    *parts* keep the provider's order. With a refusal or a cut they are what came, for the record
    of the failure; they never enter the transcript.
    """

    parts: Sequence[Part]
    stop_reason: StopReason
    usage: Usage
    provider: str
    model: str
    request_id: str | None = None
    #: What it is charged at, in US dollars, as of now; None where no price is known.
    cost: Decimal | None = None
    #: The provider's own words on a refusal.
    explanation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text of the answer being streamed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More thinking of the answer being streamed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """The answer being streamed asks for a tool; its arguments are not complete yet."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetried:
    """An attempt failed and the next one follows; what was streamed of it is void."""

    attempt: int
    delay: float  #: Seconds until the next attempt.
    error: str


Delta: TypeAlias = TextDelta | ThinkingDelta | ToolCallStarted | CallRetried


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedRequest:
    """The exact body a client would send, for people to read."""

    provider: str
    body: JsonObject
    headers: JsonObject = field(default_factory=dict)
