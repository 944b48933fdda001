"""From one tool call to the next: answer what may not be made, begin what may."""

from collections.abc import Mapping, Sequence

from runner.core.coordination import Outcome
from runner.core.ids import ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import ToolResult
from runner.core.records import NewTurn, ToolExecution
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import Carrier
from runner.engine.answers import answer, give_up, refuse
from runner.engine.asking import ask, ask_together, note_decisions
from runner.engine.decide import (
    AskPerson,
    CallStep,
    Continue,
    CountCall,
    GiveUpCall,
    MarkCall,
    Park,
    RefuseCall,
    next_call,
)
from runner.engine.draft import Draft
from runner.tools import results


def settle(draft: Draft) -> None:
    """
    Go on to the next call that has to be carried out, answering those that may not be.

    People are asked about all calls of a new response that need it, and those are passed over
    until there is an answer; when nothing else is left, the turn waits for it. What may be begun
    is counted, and marked where it has to be, so that the commit that ends one call allows the
    next; once every call is answered, the next model request is reserved.
    """
    draft.before.permits.forget()
    ask_together(draft)
    while True:
        state = draft.state
        match next_call(state.current_call(), is_open=bool(state.open_executions)):
            case RefuseCall(id=run_id, reason=reason):
                refuse(draft, run_id, reason)
            case AskPerson(id=run_id):
                ask(draft, run_id)
            case GiveUpCall(id=run_id):
                give_up(draft, run_id)
            case step:
                _conclude(draft, step)
                return


def _conclude(draft: Draft, step: CallStep) -> None:
    """Perform the last part of a step that can be recorded without doing anything else."""
    match step:
        case MarkCall(id=run_id):
            _begin(draft, run_id, ExecutionStatus.RUNNING)
        case CountCall(id=run_id):
            _begin(draft, run_id, ExecutionStatus.READY)
        case Park():
            park(draft)
        case Continue():
            draft.save()
            draft.reserve_request()
        case _:
            return


def park(draft: Draft) -> None:
    """Let go of the turn until people have answered or other turns have ended."""
    draft.save()
    draft.become(TurnStatus.WAITING)


def spawn(draft: Draft, children: Mapping[ExecutionId, NewTurn]) -> None:
    """Start a child turn for each of these calls, and wait for them all."""
    draft.save()
    draft.launch(tuple(children.values()))
    for run_id, child in children.items():
        note_decisions(draft, run_id)
        draft.move(run_id, ExecutionStatus.WAITING, awaits=(child.id,))
        draft.note("sub_agent.started", execution_id=run_id, turn_id=child.id, agent=child.agent)
    draft.become(TurnStatus.WAITING)


def join(draft: Draft, run_id: ExecutionId, turn_ids: Sequence[TurnId]) -> None:
    """Wait for turns that are there already."""
    note_decisions(draft, run_id)
    draft.move(run_id, ExecutionStatus.WAITING, awaits=turn_ids)
    draft.note("turn.waiting", execution_id=run_id, turn_ids=list(turn_ids))
    draft.become(TurnStatus.WAITING)


def collect(draft: Draft, outcomes: Mapping[TurnId, Outcome]) -> None:
    """Answer the calls that other turns worked on, in call order, and go on."""
    for run in draft.state.open_executions:
        if run.status is ExecutionStatus.ASKING:
            continue
        if run.status is not ExecutionStatus.WAITING:
            break
        found = [outcomes[turn_id] for turn_id in run.awaits if turn_id in outcomes]
        status, result = _result(draft, run, found)
        answer(draft, run.id, status, result)
    settle(draft)


def _result(
    draft: Draft, run: ToolExecution, found: Sequence[Outcome]
) -> tuple[ExecutionStatus, ToolResult]:
    tool = draft.before.agent.tools.get(run.tool)
    limit = tool.rules.max_result_chars if tool else 50_000
    is_join = tool is not None and tool.rules.carrier is Carrier.JOIN
    content: JsonObject = found[0].as_json() if found else {}
    if is_join:
        content = {"turns": [outcome.as_json() for outcome in found]}
    failed = not found or (not is_join and found[0].status is not TurnStatus.COMPLETED)
    result = results.returned(draft.call(run.id), content, limit)
    status = ExecutionStatus.FAILED if failed else ExecutionStatus.COMPLETED
    return status, result


def _begin(draft: Draft, run_id: ExecutionId, status: ExecutionStatus) -> None:
    """Count a call, unless it was before, and let it be run."""
    draft.save()
    note_decisions(draft, run_id)
    draft.before.permits.grant(run_id)
    if draft.state.executions[run_id].status is not ExecutionStatus.READY:
        draft.reserve_execution(run_id)
    draft.move(run_id, status)
    draft.note("tool_call.started", execution_id=run_id, tool=draft.call(run_id).name)
