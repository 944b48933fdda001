"""What is recorded of a policy's word on a call, and the question that it puts to people."""

from runner.core.approvals import Question
from runner.core.authorization import Effect
from runner.core.ids import ExecutionId
from runner.core.states import ExecutionStatus
from runner.engine.draft import Draft
from runner.engine.permits import Ruling, decision


def note_decisions(draft: Draft, run_id: ExecutionId) -> None:
    """Record what the policies said to a call in this step, which now acts on it."""
    ruling = draft.before.permits.said(run_id)
    if ruling is None:
        return
    approval = draft.before.answers.get(run_id)
    for action, verdict in ruling.said.items():
        was_asked = verdict.effect is Effect.ASK and approval is not None
        event = decision(
            verdict,
            action=action,
            tool=draft.call(run_id).name,
            execution_id=run_id,
            **({"approval_id": approval.id} if was_asked and approval else {}),
        )
        if event is not None:
            draft.note(event.kind, **event.body)


def ask(draft: Draft, run_id: ExecutionId) -> None:
    """Have people asked whether a call may be made; nothing of it happens until then."""
    state = draft.state
    run, ruling = state.executions[run_id], state.permits.said(run_id)
    if ruling is None:
        raise LookupError(f"no policy was asked about {run_id}")
    note_decisions(draft, run_id)
    if run.status is ExecutionStatus.READY:
        draft.reserve_execution(run_id, -1)
    agents = [each.name for each in draft.turn.lineage]
    question = _question(ruling, agents, draft, run_id)
    draft.ask(run_id, question, expires=ruling.verdict.expires or state.permits.expire)


def ask_together(draft: Draft) -> None:
    """Have people asked about all calls of a new response that need it, at the same time."""
    state = draft.state
    for run in draft.write.planned:
        if run.status is ExecutionStatus.PLANNED and state.asks_about(run):
            ask(draft, run.id)


def _question(ruling: Ruling, agents: list[str], draft: Draft, run_id: ExecutionId) -> Question:
    run, verdict = draft.state.executions[run_id], ruling.verdict
    return Question(
        agents=agents,
        tool=run.tool,
        arguments=run.arguments,
        action=ruling.action,
        policy=verdict.policy,
        rule=verdict.rule,
        source=verdict.source,
        layer=verdict.layer,
        reason=verdict.reason,
    )
