"""Answers to tool calls: each gets exactly one result, whatever became of it."""

from collections.abc import Sequence

from runner.core.ids import ExecutionId
from runner.core.messages import Role, Text, ToolResult
from runner.core.states import ExecutionStatus
from runner.engine.decide import OpenCall
from runner.engine.draft import Draft
from runner.tools import results


def answer(
    draft: Draft,
    run_id: ExecutionId,
    status: ExecutionStatus,
    result: ToolResult,
    *,
    notes: Sequence[str] = (),
) -> None:
    """End an execution with its one result, and append what the tool had to add."""
    draft.move(run_id, status)
    draft.say(Role.TOOL, [result], execution_id=run_id)
    for text in notes:
        draft.say(Role.NOTICE, [Text(text=text)])
    draft.note("tool_call.ended", execution_id=run_id, tool=result.name, status=status.value)


def refuse(draft: Draft, run_id: ExecutionId, reason: str) -> None:
    answer(draft, run_id, ExecutionStatus.REFUSED, results.refused(draft.call(run_id), reason))


def give_up(draft: Draft, run_id: ExecutionId) -> None:
    """Answer a call that may have had its effect, and will never be known to."""
    answer(draft, run_id, ExecutionStatus.INTERRUPTED, results.interrupted(draft.call(run_id)))


def close_calls(draft: Draft, why: str) -> None:
    """Answer every open call, so that the transcript is valid whatever comes next."""
    while (call := draft.state.first_open_call()) is not None:
        if call.status is ExecutionStatus.RUNNING and not draft.is_unbegun(call):
            give_up(draft, call.id)
        else:
            _skip(draft, call, why)


def _skip(draft: Draft, call: OpenCall, why: str) -> None:
    if call.status in {ExecutionStatus.READY, ExecutionStatus.RUNNING}:
        draft.reserve_execution(call.id, -1)
    if call.status is ExecutionStatus.WAITING:
        why = f"{why}; what works on it may still be at it"
    skipped = results.skipped(draft.call(call.id), why)
    answer(draft, call.id, ExecutionStatus.SKIPPED, skipped)
