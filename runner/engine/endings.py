"""How a turn ends, and how it is let go of."""

from dataclasses import asdict
from datetime import timedelta

from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.records import Turn, TurnError
from runner.core.states import ExecutionStatus, TurnStatus
from runner.engine.answers import close_calls
from runner.engine.draft import Draft


def complete(draft: Draft, result: str, output_data: JsonValue = None) -> None:
    """End the turn with a result, skipping whatever calls are open."""
    draft.save()
    close_calls(draft, "the turn had already ended")
    draft.become(TurnStatus.COMPLETED)
    draft.finish(result=result, output_data=output_data)
    draft.note("turn.completed", **_took(draft.turn))


def fail(draft: Draft, error: TurnError) -> None:
    """End the turn with an error, answering whatever calls are open."""
    close_calls(draft, "the turn failed before this call's place came")
    draft.become(TurnStatus.FAILED)
    draft.finish(error=error)
    draft.note("turn.failed", code=error.code, message=error.message, **_took(draft.turn))


def cancel(draft: Draft) -> None:
    """End the turn as cancelled, answering whatever calls are open."""
    close_calls(draft, "the turn was cancelled before this call's place came")
    draft.become(TurnStatus.CANCELLED)
    draft.note("turn.cancelled", **_took(draft.turn))


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


def _took(turn: Turn) -> JsonObject:
    return {"usage": asdict(turn.usage), **turn.cost.as_json()}
