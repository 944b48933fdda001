"""Gives a scripted answer the way a model would give it."""

from collections.abc import Iterator, Sequence
from typing import Final

from runner.clients.place import Place
from runner.clients.quoting import quote, quote_in
from runner.clients.script import ScriptedAnswer, ScriptedError
from runner.core.errors import (
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.messages import Part, Text, Thinking, ToolCall
from runner.core.model import Delta, StopReason, TextDelta, ThinkingDelta, ToolCallStarted

_DELTA_CHARS: Final = 24


def failure_of(error: ScriptedError) -> ModelError:
    """Return the error to raise."""
    message = f"the script says that this request fails: {error.kind}"
    match error.kind:
        case "unavailable":
            delay = error.retry_after.total_seconds() if error.retry_after else None
            return ModelUnavailable(message, retry_after=delay)
        case "transport":
            return ModelTransport(message)
        case "rejected":
            return ModelRejected(message)
        case "too_long":
            return PromptTooLong(message)
        case "access":
            return ModelAccessDenied(message)


def parts_of(answer: ScriptedAnswer, place: Place) -> Iterator[Part]:
    """Yield the answer's parts, with what they quote put in."""
    if answer.thinking:
        yield Thinking(text=quote(answer.thinking, place.quotable))
    if answer.text:
        yield Text(text=quote(answer.text, place.quotable))
    for position, call in enumerate(answer.tool_calls, start=1):
        yield ToolCall(
            call_id=f"call_{place.key}_{position}",
            name=call.name,
            arguments={
                key: quote_in(value, place.quotable) for key, value in call.arguments.items()
            },
        )


def deltas_of(parts: Sequence[Part]) -> Iterator[Delta]:
    """Yield the parts as they would be streamed."""
    for part in parts:
        match part:
            case Text():
                yield from (TextDelta(text=piece) for piece in _pieces(part.text))
            case Thinking():
                yield from (ThinkingDelta(text=piece) for piece in _pieces(part.text))
            case ToolCall():
                yield ToolCallStarted(name=part.name)
            case _:
                pass


def stop_reason_of(answer: ScriptedAnswer) -> StopReason:
    """Return why the answer stops."""
    if answer.stop:
        return StopReason(answer.stop)
    return StopReason.TOOL_CALLS if answer.tool_calls else StopReason.END


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _DELTA_CHARS] for at in range(0, len(text), _DELTA_CHARS))
