"""The steps that hand calls to other turns, and take their results."""

from runner.core.authorization import ALLOWED, Action, Effect, Verdict
from runner.core.errors import NotFound
from runner.core.ids import ExecutionId, TurnId
from runner.core.ports import Authority, Journal
from runner.core.records import NewTurn, Turn
from runner.engine.answers import refuse
from runner.engine.calls import collect, join, settle, spawn
from runner.engine.decide import Join, Spawn
from runner.engine.draft import Draft
from runner.engine.launch import Launcher
from runner.engine.permits import attempt_on, decision
from runner.engine.state import State


def start_children(step: Spawn, state: State, launcher: Launcher) -> Draft:
    """Perform the step that fans calls out to child turns."""
    draft = Draft(state)
    children: dict[ExecutionId, NewTurn] = {}
    for run_id in step.ids:
        run = state.executions[run_id]
        try:
            work = launcher.assign(state.agent, run.tool, run.arguments)
        except NotFound as error:
            if not children:
                refuse(draft, run_id, f"not made: {error}")
                settle(draft)
                return draft
            # Its place comes once the children before it have ended.
            break
        children[run_id] = launcher.child(state.turn, run_id, work)
    spawn(draft, children)
    return draft


def wait_for_turns(step: Join, state: State, launcher: Launcher, authority: Authority) -> Draft:
    """
    Perform the step that waits for the turns a call names.

    A call is told how those end. So of turns outside its own tree the principal has to be allowed
    to read that; one that it may not read is not there for the model.
    """
    draft = Draft(state)
    wanted = state.executions[step.id].arguments["turn_ids"]
    turn_ids = [str(turn_id) for turn_id in wanted] if isinstance(wanted, list | tuple) else []
    awaited = [TurnId(turn_id) for turn_id in dict.fromkeys(turn_ids)]
    for turn_id in awaited:
        verdict = _on_reading(state.turn, turn_id, launcher, authority)
        if verdict is None or verdict.effect is not Effect.ALLOW:
            _note_hidden(draft, step.id, verdict)
            refuse(draft, step.id, f"not made: there is no turn {turn_id!r} to wait for")
            settle(draft)
            return draft
    join(draft, step.id, awaited)
    return draft


def _on_reading(
    turn: Turn, awaited: TurnId, launcher: Launcher, authority: Authority
) -> Verdict | None:
    """Return what policies say to reading how a turn ends; None where there is no such turn."""
    try:
        other = launcher.turn(awaited)
    except NotFound:
        return None
    if other.place.root_id == turn.place.root_id:
        return ALLOWED
    attempt = attempt_on(other, Action.READ_CONTROL, turn.principal)
    return authority.decide(attempt, other.lineage)


def _note_hidden(draft: Draft, run_id: ExecutionId, verdict: Verdict | None) -> None:
    if verdict is None:
        return
    tool = draft.call(run_id).name
    event = decision(verdict, action=Action.READ_CONTROL, tool=tool, execution_id=run_id)
    if event is not None:
        draft.note(event.kind, **event.body)


def refuse_wait(state: State, run_id: ExecutionId, reason: str) -> Draft:
    """Answer the call whose wait the store refused."""
    draft = Draft(state)
    refuse(draft, run_id, reason)
    settle(draft)
    return draft


def take_results(state: State, journal: Journal) -> Draft:
    """Perform the step that answers the calls other turns worked on."""
    draft = Draft(state)
    wanted = [turn_id for run in state.open_executions for turn_id in run.awaits]
    outcomes = {outcome.turn_id: outcome for outcome in journal.outcomes(wanted)}
    collect(draft, outcomes)
    return draft
