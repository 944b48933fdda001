"""The tool step: run one call and record its one result."""

from runner.core.ids import ExecutionId
from runner.core.jsonvalue import storable_text
from runner.core.messages import ToolCall, ToolResult
from runner.core.records import ToolExecution
from runner.core.states import ExecutionStatus
from runner.core.tooling import Tool, ToolContext
from runner.engine.answers import answer
from runner.engine.asking import note_decisions
from runner.engine.calls import settle
from runner.engine.circumstances import Circumstances
from runner.engine.draft import Draft
from runner.engine.endings import complete
from runner.engine.state import State
from runner.tools import results
from runner.tools.cut import cut_text
from runner.tools.invocation import CallOutcome, Raised, Returned, TimedOut, run_call
from runner.tools.terminal import terminal_message


def run_tool(state: State, run_id: ExecutionId, around: Circumstances) -> Draft:
    """
    Perform the tool step for one call.

    Raises:
        ClaimLost: The claim ended; the call's outcome is for whoever holds the turn to tell.
        HandBack: The worker is stopping and the call has no outcome yet.
    """
    run = state.executions[run_id]
    tool = state.agent.tools[run.tool]
    outcome = run_call(
        tool,
        run.arguments,
        _context(state, run, around),
        seconds=_seconds(tool, around),
        stop=around.lease.stop,
    )
    draft = Draft(state)
    status, result = _read(outcome, run, tool)
    if not state.permits.is_granted(run_id):
        note_decisions(draft, run_id)
        state.permits.grant(run_id)
    longest = tool.rules.max_result_chars
    notes = [cut_text(storable_text(note), max_chars=longest) for note in outcome.notes]
    answer(draft, run_id, status, result, notes=notes)
    if tool.rules.terminal and status is ExecutionStatus.COMPLETED:
        message = terminal_message(tool.rules.terminal_message, result.content)
        complete(draft, message, result.content)
    else:
        settle(draft)
    return draft


def _context(state: State, run: ToolExecution, around: Circumstances) -> ToolContext:
    turn = state.turn
    return ToolContext(
        turn_id=turn.id,
        conversation_id=turn.conversation_id,
        execution_id=run.id,
        agent=turn.agent,
        idempotency_key=f"{turn.id}:{run.call_id}",
        principal=turn.principal,
        context=turn.context,
        cancelled=around.lease.stop,
    )


def _seconds(tool: Tool, around: Circumstances) -> float:
    left = around.deadline.seconds_left
    return left if tool.rules.timeout is None else min(tool.rules.timeout, left)


def _read(
    outcome: CallOutcome, run: ToolExecution, tool: Tool
) -> tuple[ExecutionStatus, ToolResult]:
    call = ToolCall(call_id=run.call_id, name=run.tool, arguments=run.arguments)
    match outcome:
        case Returned(value=value):
            result = results.returned(call, value, tool.rules.max_result_chars)
            return ExecutionStatus.COMPLETED, result
        case Raised(error=error):
            return ExecutionStatus.FAILED, results.raised(call, error)
        case TimedOut(seconds=seconds):
            return ExecutionStatus.TIMED_OUT, results.timed_out(call, seconds)
