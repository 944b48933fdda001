"""How a turn ends, and how it is let go of."""

from datetime import timedelta

from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.model import Usage
from runner.core.records import TurnError
from runner.core.states import ExecutionStatus, TurnStatus
from runner.engine.answers import close_calls
from runner.engine.draft import Draft


def complete(draft: Draft, result: str, output_data: JsonValue = None) -> None:
    """End the turn with a result, skipping whatever calls are open."""
    draft.save()
    close_calls(draft, "the turn had already ended")
    draft.become(TurnStatus.COMPLETED)
    draft.finish(result=result, output_data=output_data)
    draft.note("turn.completed", usage=_usage(draft.turn.usage))


def fail(draft: Draft, error: TurnError) -> None:
    """End the turn with an error, answering whatever calls are open."""
    close_calls(draft, "the turn failed before this call's place came")
    draft.become(TurnStatus.FAILED)
    draft.finish(error=error)
    draft.note(
        "turn.failed", code=error.code, message=error.message, usage=_usage(draft.turn.usage)
    )


def cancel(draft: Draft) -> None:
    """End the turn as cancelled, answering whatever calls are open."""
    close_calls(draft, "the turn was cancelled before this call's place came")
    draft.become(TurnStatus.CANCELLED)
    draft.note("turn.cancelled", usage=_usage(draft.turn.usage))


def pause(draft: Draft) -> None:
    """Let go of the turn until it is resumed."""
    _unbegin(draft)
    draft.become(TurnStatus.PAUSED)
    draft.forget_pause()
    draft.note("turn.paused")


def hand_back(draft: Draft, reason: str, *, delay: timedelta | None = None) -> None:
    """Let go of the turn for whoever claims it next, after *delay*."""
    _unbegin(draft)
    draft.become(TurnStatus.PENDING, delay=delay)
    draft.note("turn.released", reason=reason, delay=delay.total_seconds() if delay else 0)


def _unbegin(draft: Draft) -> None:
    """Let a call that was marked, and has not begun, be ready again."""
    for run in draft.state.open_executions:
        if draft.is_unbegun(run):
            draft.move(run.id, ExecutionStatus.READY)


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "thinking_tokens": usage.thinking_tokens,
    }
