"""Answers to tool calls: each gets exactly one result, whatever became of it."""

from collections.abc import Sequence

from runner.core.ids import ExecutionId
from runner.core.messages import Role, Text, ToolResult
from runner.core.records import ToolExecution
from runner.core.states import ExecutionStatus
from runner.core.tooling import Recovery
from runner.engine.asking import note_decisions
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
    """
    Answer a call that may not be made.

    One that may be run any number of times, and was to be run again, may have had its effect.
    """
    note_decisions(draft, run_id)
    call, run = draft.call(run_id), draft.state.executions[run_id]
    tool = draft.before.agent.tools.get(run.tool)
    is_ready = run.status is ExecutionStatus.READY
    if is_ready and tool is not None and tool.rules.recovery is Recovery.REPLAY_SAFE:
        answer(draft, run_id, ExecutionStatus.INTERRUPTED, results.stopped(call, reason))
        return
    if is_ready:
        draft.reserve_execution(run_id, -1)
    answer(draft, run_id, ExecutionStatus.REFUSED, results.refused(call, reason))


def give_up(draft: Draft, run_id: ExecutionId) -> None:
    """Answer a call that may have had its effect, and will never be known to."""
    answer(draft, run_id, ExecutionStatus.INTERRUPTED, results.interrupted(draft.call(run_id)))


def close_calls(draft: Draft, why: str) -> None:
    """Answer every open call, so that the transcript is valid whatever comes next."""
    draft.withdraw_questions()
    for run in draft.state.open_executions:
        if run.status is ExecutionStatus.RUNNING and not draft.is_unbegun(run):
            give_up(draft, run.id)
        else:
            _skip(draft, run, why)


def _skip(draft: Draft, run: ToolExecution, why: str) -> None:
    if run.status in {ExecutionStatus.READY, ExecutionStatus.RUNNING}:
        draft.reserve_execution(run.id, -1)
    if run.status is ExecutionStatus.WAITING:
        why = f"{why}; what works on it may still be at it"
    skipped = results.skipped(draft.call(run.id), why)
    answer(draft, run.id, ExecutionStatus.SKIPPED, skipped)
