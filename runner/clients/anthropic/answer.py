"""Puts an answer together from the events of its stream."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from runner.clients.anthropic.block import INPUT, Block
from runner.clients.anthropic.projection import PROVIDER
from runner.core.errors import ModelRejected, ModelTransport
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Part, ToolCall
from runner.core.model import (
    Delta,
    ModelResponse,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    Usage,
)

_STOP_REASONS: Final = MappingProxyType(
    {
        "end_turn": StopReason.END,
        "stop_sequence": StopReason.END,
        "tool_use": StopReason.TOOL_CALLS,
        "pause_turn": StopReason.PAUSE,
        "max_tokens": StopReason.MAX_TOKENS,
        "model_context_window_exceeded": StopReason.CONTEXT_FULL,
        "refusal": StopReason.REFUSAL,
    }
)
#: The stop reasons under which the transcript keeps what came.
_KEPT: Final = frozenset({StopReason.END, StopReason.TOOL_CALLS, StopReason.PAUSE})
_EMPTY: Final[JsonObject] = MappingProxyType({})


@dataclass(slots=True)
class Answer:
    """An answer that is arriving."""

    _blocks: dict[int, Block] = field(default_factory=dict)
    _usage: dict[str, JsonValue] = field(default_factory=dict)
    _stop_reason: str | None = None
    _explanation: str | None = None
    _has_started: bool = False
    _has_ended: bool = False

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """
        Add one event, and yield what of it is to be shown.

        Events of unknown types are passed over.

        Raises:
            ModelTransport: The event cannot follow those before it.
        """
        match event.get("type"):
            case "message_start":
                self._has_started = True
                self._count(_object(_object(event, "message"), "usage"))
            case "content_block_start":
                yield from self._open(event)
            case "content_block_delta":
                yield from self._extend(self._block(event), _object(event, "delta"))
            case "content_block_stop":
                self._block(event).is_closed = True
            case "message_delta":
                self._stop(_object(event, "delta"))
                self._count(_object(event, "usage"))
            case "message_stop":
                self._has_ended = True
            case _:
                pass

    def response(self, *, model: str, request_id: str | None) -> ModelResponse:
        """
        Return the whole answer.

        *model* is the one that was asked: what it thinks is replayed when it is asked again, under
        whatever dated name it may have answered.

        Raises:
            ModelTransport: It is not whole.
            ModelRejected: It stopped for a reason that is not known.
        """
        stop_reason = self._checked_stop_reason(request_id)
        parts = tuple(self._parts(stop_reason, request_id))
        asks = any(isinstance(part, ToolCall) for part in parts)
        if stop_reason is StopReason.TOOL_CALLS and not asks:
            stop_reason = StopReason.END
        elif stop_reason in {StopReason.END, StopReason.PAUSE} and asks:
            raise ModelTransport(
                f"the answer asks for tools but stopped with {self._stop_reason!r}",
                request_id=request_id,
            )
        return ModelResponse(
            parts=parts,
            stop_reason=stop_reason,
            usage=self.usage,
            provider=PROVIDER,
            model=model,
            request_id=request_id,
            explanation=self._explanation,
        )

    @property
    def usage(self) -> Usage:
        details = self._usage.get("output_tokens_details")
        return Usage(
            input_tokens=_count(self._usage, "input_tokens"),
            output_tokens=_count(self._usage, "output_tokens"),
            cache_read_tokens=_count(self._usage, "cache_read_input_tokens"),
            cache_write_tokens=_count(self._usage, "cache_creation_input_tokens"),
            thinking_tokens=(
                _count(details, "thinking_tokens") if isinstance(details, Mapping) else 0
            ),
        )

    def _count(self, usage: JsonObject) -> None:
        """Take over counts: each is a total so far, and one that is missing has not changed."""
        self._usage |= {key: value for key, value in usage.items() if value is not None}

    def _open(self, event: JsonObject) -> Iterator[Delta]:
        index, content = event.get("index"), _object(event, "content_block")
        if not isinstance(index, int) or index in self._blocks or not content.get("type"):
            raise ModelTransport("a content block of the answer could not be read")
        self._blocks[index] = Block(content=dict(content))
        if content["type"] == "tool_use":
            yield ToolCallStarted(name=str(content.get("name")))
        yield from _shown(str(content["type"]), content)

    def _block(self, event: JsonObject) -> Block:
        index = event.get("index")
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or block.is_closed:
            raise ModelTransport("the answer's events are out of order")
        return block

    def _extend(self, block: Block, delta: JsonObject) -> Iterator[Delta]:
        match delta.get("type"):
            case "text_delta" | "thinking_delta" as kind:
                key = kind.removesuffix("_delta")
                block.add(key, delta.get(key))
                yield from _shown(key, delta)
            case "signature_delta":
                block.content["signature"] = delta.get("signature")
            case "input_json_delta":
                block.add(INPUT, delta.get(INPUT))
            case "citations_delta":
                earlier = block.content.get("citations")
                known = earlier if isinstance(earlier, list) else []
                block.content["citations"] = [*known, delta.get("citation")]
            case _:
                block.is_lost = not block.is_known

    def _stop(self, delta: JsonObject) -> None:
        reason, details = delta.get("stop_reason"), _object(delta, "stop_details")
        if isinstance(reason, str):
            self._stop_reason = reason
        said = details.get("explanation") or details.get("category")
        if isinstance(said, str):
            self._explanation = said

    def _checked_stop_reason(self, request_id: str | None) -> StopReason:
        if not self._has_started:
            raise ModelTransport("the answer is not a stream of events", request_id=request_id)
        if not self._has_ended or self._stop_reason is None:
            raise ModelTransport("the answer ended before it was whole", request_id=request_id)
        if not all(block.is_closed for block in self._blocks.values()):
            raise ModelTransport("a block of the answer was not finished", request_id=request_id)
        if self._stop_reason not in _STOP_REASONS:
            raise ModelRejected(
                f"the answer stopped for an unknown reason: {self._stop_reason!r}",
                request_id=request_id,
            )
        return _STOP_REASONS[self._stop_reason]

    def _parts(self, stop_reason: StopReason, request_id: str | None) -> Iterator[Part]:
        for _, block in sorted(self._blocks.items()):
            if block.is_lost:
                continue
            arguments = block.arguments
            if arguments is None and stop_reason in _KEPT:
                raise ModelTransport(
                    "the arguments of a tool call are not a JSON object", request_id=request_id
                )
            yield block.part(arguments or {})


def _shown(kind: str, fields: JsonObject) -> Iterator[Delta]:
    text = fields.get(kind)
    if not isinstance(text, str) or not text:
        return
    if kind == "text":
        yield TextDelta(text=text)
    elif kind == "thinking":
        yield ThinkingDelta(text=text)


def _object(fields: JsonObject, key: str) -> JsonObject:
    value = fields.get(key)
    return value if isinstance(value, Mapping) else _EMPTY


def _count(fields: JsonObject, key: str) -> int:
    value = fields.get(key)
    return value if isinstance(value, int) and value >= 0 else 0
