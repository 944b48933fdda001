"""The steps that hand calls to other turns, and take their results."""

from runner.core.errors import NotFound
from runner.core.ids import ExecutionId, TurnId
from runner.core.ports import Journal
from runner.core.records import NewTurn
from runner.engine.answers import refuse
from runner.engine.calls import collect, join, settle, spawn
from runner.engine.decide import Join, Spawn
from runner.engine.draft import Draft
from runner.engine.launch import Launcher
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


def wait_for_turns(step: Join, state: State) -> Draft:
    """Perform the step that waits for the turns a call names."""
    draft = Draft(state)
    wanted = state.executions[step.id].arguments["turn_ids"]
    turn_ids = [str(turn_id) for turn_id in wanted] if isinstance(wanted, list | tuple) else []
    join(draft, step.id, [TurnId(turn_id) for turn_id in dict.fromkeys(turn_ids)])
    return draft


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
