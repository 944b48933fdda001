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
from runner.engine.decide import Continue, CountCall, GiveUpCall, MarkCall, RefuseCall, next_call
from runner.engine.draft import Draft
from runner.tools import results


def settle(draft: Draft) -> None:
    """
    Go on to the next call that has to be carried out, answering those that may not be.

    What may be begun is counted, and marked where it has to be, so that the commit that ends one
    call allows the next; once every call is answered, the next model request is reserved.
    """
    while True:
        match next_call(draft.state.first_open_call()):
            case RefuseCall(id=run_id, reason=reason):
                refuse(draft, run_id, reason)
            case GiveUpCall(id=run_id):
                give_up(draft, run_id)
            case MarkCall(id=run_id):
                _begin(draft, run_id, ExecutionStatus.RUNNING)
                return
            case CountCall(id=run_id):
                _begin(draft, run_id, ExecutionStatus.READY)
                return
            case Continue():
                draft.save()
                draft.reserve_request()
                return
            case _:
                return


def spawn(draft: Draft, children: Mapping[ExecutionId, NewTurn]) -> None:
    """Start a child turn for each of these calls, and wait for them all."""
    draft.save()
    draft.launch(tuple(children.values()))
    for run_id, child in children.items():
        draft.move(run_id, ExecutionStatus.WAITING, awaits=(child.id,))
        draft.note("sub_agent.started", execution_id=run_id, turn_id=child.id, agent=child.agent)
    draft.become(TurnStatus.WAITING)


def join(draft: Draft, run_id: ExecutionId, turn_ids: Sequence[TurnId]) -> None:
    """Wait for turns that are there already."""
    draft.move(run_id, ExecutionStatus.WAITING, awaits=turn_ids)
    draft.note("turn.waiting", execution_id=run_id, turn_ids=list(turn_ids))
    draft.become(TurnStatus.WAITING)


def collect(draft: Draft, outcomes: Mapping[TurnId, Outcome]) -> None:
    """Answer the calls that other turns worked on, in call order, and go on."""
    for run in draft.state.open_executions:
        if run.status is not ExecutionStatus.WAITING:
            break
        found = [outcomes[turn_id] for turn_id in run.awaits if turn_id in outcomes]
        status, result = _result(draft, run, found)
        answer(draft, run.id, status, result)
    settle(draft)


def _result(
    draft: Draft, run: ToolExecution, found: Sequence[Outcome]
) -> tuple[ExecutionStatus, ToolResult]:
    tool = draft.state.agent.tools.get(run.tool)
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
    if draft.state.executions[run_id].status is ExecutionStatus.PLANNED:
        draft.reserve_execution(run_id)
    draft.move(run_id, status)
    draft.note("tool_call.started", execution_id=run_id, tool=draft.call(run_id).name)
