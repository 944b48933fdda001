"""Drives one claimed turn: decide, perform, commit, until it ends or is let go."""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, assert_never

from runner.core.clock import Clock
from runner.core.errors import (
    HandBack,
    InputsArrived,
    LimitReached,
    NotFound,
    RunnerError,
    StoreError,
    WaitCycle,
)
from runner.core.ids import TurnId
from runner.core.model import Delta
from runner.core.ports import Journal, Observer
from runner.core.records import ClaimedTurn, Committed, Turn, TurnError
from runner.core.states import ExecutionStatus, TurnStatus
from runner.engine.calls import park, settle
from runner.engine.circumstances import Circumstances
from runner.engine.deadline import Deadline
from runner.engine.decide import (
    AskPerson,
    CallModel,
    Cancel,
    CheckOutput,
    Collect,
    Continue,
    CountCall,
    Fail,
    GiveUpCall,
    Join,
    MarkCall,
    Park,
    Pause,
    RefuseCall,
    RunCall,
    Spawn,
    Step,
    TakeInputs,
    decide,
)
from runner.engine.delegation import refuse_wait, start_children, take_results, wait_for_turns
from runner.engine.denial import deny, take_in
from runner.engine.draft import Draft
from runner.engine.endings import cancel, fail, hand_back, pause
from runner.engine.launch import Launcher
from runner.engine.lease import Lease
from runner.engine.model_step import ask_model
from runner.engine.output_step import check_output
from runner.engine.permits import Permits, Policing
from runner.engine.state import State
from runner.engine.steering import take_inputs
from runner.engine.tool_step import run_tool
from runner.runtime.absent import absent_agent
from runner.runtime.agent import Agent

log = logging.getLogger(__name__)

TRUSTING: Final = Policing()

#: Calls about which people may have been asked before they are made.
_ASKED: Final = frozenset({ExecutionStatus.ASKING, ExecutionStatus.READY})
#: How long a turn rests whose agent could not be brought to life.
_PUT_OFF = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long one execution may keep a turn."""

    #: Seconds after which a turn goes back at its next boundary; None never.
    slice: float | None
    #: Seconds a failed model request may be waited for without letting go of the turn.
    patience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """How an execution left its turn."""

    turn: Turn
    #: Turns to be looked at now, this one among them when it may go on at once.
    wake: Sequence[TurnId] = ()
    #: Children this one was waiting for when it failed without them.
    abandoned: Sequence[TurnId] = ()


class Driver:
    """Performs the steps of claimed turns. One driver serves all threads of a process."""

    def __init__(
        self,
        *,
        journal: Journal,
        launcher: Launcher,
        observer: Observer,
        clock: Clock,
        max_claims: int,
        policing: Policing = TRUSTING,
    ) -> None:
        self._journal = journal
        self._launcher = launcher
        self._observer = observer
        self._clock = clock
        self._max_claims = max_claims
        self._policing = policing

    def drive(self, claimed: ClaimedTurn, lease: Lease, pace: Pace) -> Driven:
        """
        Take a claimed turn as far as it goes.

        Raises:
            ClaimLost: The turn is someone else's by now.
            StoreError: The database did not take a step; the lease ends by itself.
        """
        turn_id = claimed.turn.id
        deadline = Deadline(claimed.seconds_left, self._clock)
        around = Circumstances(
            lease=lease,
            deadline=deadline,
            clock=self._clock,
            jitter=random.random,
            patience=pace.patience,
            on_delta=lambda delta: self._show_delta(turn_id, delta),
        )
        try:
            state = self._load(claimed, self._launcher.agent_of(claimed.turn))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep the turn
            return self._put_off(claimed, lease, deadline, error)
        give_back_at = self._clock.monotonic() + (pace.slice or float("inf"))
        while True:
            before = state
            draft, committed = self._commit(self._next(state, around), lease)
            state = self._catch_up(draft.state, committed)
            if state.turn.status is not TurnStatus.RUNNING:
                return _driven(before, state, committed)
            # Only after a step that left something to read, so that every slice gets somewhere.
            if draft.write.messages and self._clock.monotonic() >= give_back_at:
                return self._give_back(state, lease)

    def _load(self, claimed: ClaimedTurn, agent: Agent) -> State:
        turn = claimed.turn
        executions = {run.id: run for run in self._journal.executions(turn.id)}
        state = State(
            claim=claimed.claim,
            turn=turn,
            agent=agent,
            messages=tuple(self._journal.transcript(turn.conversation_id)),
            executions=executions,
            max_claims=self._max_claims,
            permits=Permits(self._policing, turn),
            answers={},
            joined=tuple(self._journal.outcomes(turn.awaits)) if turn.awaits else (),
        )
        may_be_asked = any(run.status in _ASKED for run in executions.values())
        return self._read_answers(state) if may_be_asked else state

    def _read_answers(self, state: State) -> State:
        """Take in what people have answered."""
        approvals = self._journal.approvals(state.turn.id)
        answers = {each.execution_id: each for each in approvals if each.answer is not None}
        turn = replace(state.turn, open_approvals=len(approvals) - len(answers))
        return replace(state, turn=turn, answers=answers)

    def _catch_up(self, state: State, committed: Committed) -> State:
        """Take in what people asked of the turn, and answered it, while the step was under way."""
        state = _asked(state, committed)
        is_held = state.turn.status is TurnStatus.RUNNING
        if is_held and committed.open_approvals != state.turn.open_approvals:
            return self._read_answers(state)
        return state

    def _load_without(self, claimed: ClaimedTurn) -> State:
        """Load a turn without its agent and, where they cannot be read, without its messages."""
        turn = claimed.turn
        agent = absent_agent(turn.agent, turn.definition_hash)
        try:
            return self._load(claimed, agent)
        except StoreError:
            raise
        except Exception:
            log.exception("a transcript cannot be read", extra={"turn_id": turn.id})
            return State(
                claim=claimed.claim,
                turn=turn,
                agent=agent,
                messages=(),
                executions={},
                max_claims=self._max_claims,
                permits=Permits(self._policing, turn),
                answers={},
            )

    def _put_off(
        self, claimed: ClaimedTurn, lease: Lease, deadline: Deadline, error: Exception
    ) -> Driven:
        """
        Let go of a turn that cannot be brought to life here; end it when its time is over.

        Until then another worker may be able to, or this one after what is missing was mended.
        """
        turn = claimed.turn
        said = str(error) if isinstance(error, RunnerError) else f"{type(error).__name__}: {error}"
        log.warning("agent unavailable", extra={"turn_id": turn.id, "error": said})
        draft = Draft(self._load_without(claimed))
        message = f"agent {turn.agent!r} cannot be brought to life: {said}"
        if turn.cancel_requested:
            cancel(draft)
        elif deadline.seconds_left > 0:
            hand_back(draft, message, delay=_PUT_OFF)
        else:
            fail(draft, TurnError(code="agent_unavailable", message=message))
        before = draft.before
        draft, committed = self._commit(draft, lease)
        return _driven(before, draft.state, committed)

    def _next(self, state: State, around: Circumstances) -> Draft:
        """Perform the next step; an error of ours fails the turn instead of being tried again."""
        begun = None
        try:
            around.lease.check()
            state.permits.forget()
            step = decide(state.snapshot(seconds_left=around.deadline.seconds_left))
            begun = step.id if isinstance(step, RunCall) else None
            return self._perform(step, state, around)
        except HandBack as request:
            draft = Draft(state, begun=begun)
            hand_back(draft, str(request))
            return draft
        except StoreError:
            raise
        except Exception as error:
            log.exception("a step failed", extra={"turn_id": state.turn.id})
            draft = Draft(state, begun=begun)
            fail(draft, TurnError(code="internal", message=f"{type(error).__name__}: {error}"))
            return draft

    def _perform(self, step: Step, state: State, around: Circumstances) -> Draft:
        match step:
            case CallModel():
                return ask_model(state, around)
            case RunCall(id=run_id):
                return run_tool(state, run_id, around)
            case CheckOutput():
                return check_output(state)
            case Spawn() | Join() | Collect():
                return self._delegate(step, state)
            case _:
                return self._rearrange(step, state)

    def _delegate(self, step: Spawn | Join | Collect, state: State) -> Draft:
        """Perform a step that hands calls to other turns, or takes their results."""
        match step:
            case Spawn():
                return start_children(step, state, self._launcher)
            case Join():
                return wait_for_turns(step, state, self._launcher, self._policing.authority)
            case Collect():
                return take_results(state, self._journal)
            case _:
                assert_never(step)

    def _rearrange(
        self,
        step: MarkCall
        | CountCall
        | RefuseCall
        | AskPerson
        | GiveUpCall
        | Park
        | Continue
        | TakeInputs
        | Pause
        | Cancel
        | Fail,
        state: State,
    ) -> Draft:
        """Perform a step that has no effect but on the turn itself."""
        draft = Draft(state)
        match step:
            case Park():
                park(draft)
            case MarkCall() | CountCall() | RefuseCall() | AskPerson() | GiveUpCall() | Continue():
                settle(draft)
            case TakeInputs():
                take_inputs(draft, self._journal.inputs(state.turn.id))
            case Pause():
                pause(draft)
            case Cancel():
                cancel(draft)
            case Fail(error=error):
                fail(draft, error)
            case _:
                assert_never(step)
        return draft

    def _commit(self, draft: Draft, lease: Lease) -> tuple[Draft, Committed]:
        """
        Commit a step; where the store refuses its last part, commit something else instead.

        What the step did is not done again, so a database that is away is waited for until the
        lease may be over.
        """
        while True:
            try:
                committed = self._journal.commit(draft.write, insist=lambda: not lease.is_over)
            except LimitReached as limit:
                deny(draft, limit)
            except InputsArrived:
                self._make_room(draft)
            except (WaitCycle, NotFound) as error:
                draft = refuse_wait(draft.before, draft.last_moved()[0], str(error))
            else:
                self._show_events(draft)
                return draft, committed

    def _make_room(self, draft: Draft) -> None:
        """Let inputs that came at the last moment keep the turn going, or begin another one."""
        inputs = self._journal.inputs(draft.turn.id)
        if draft.turn.status is TurnStatus.COMPLETED:
            take_in(draft, inputs)
            return
        text = "\n\n".join(given.text for given in inputs)
        continuation = self._launcher.continuation(draft.turn.conversation_id, text)
        draft.continue_with(continuation, inputs)

    def _give_back(self, state: State, lease: Lease) -> Driven:
        draft = Draft(state)
        hand_back(draft, "its slice was up")
        draft, committed = self._commit(draft, lease)
        return Driven(turn=draft.turn, wake=(*committed.wake, draft.turn.id))

    def _show_events(self, draft: Draft) -> None:
        for event in draft.write.events:
            try:
                self._observer.on_event(draft.turn.id, event)
            except Exception:
                extra = {"turn_id": draft.turn.id, "event": event.kind}
                log.exception("an observer failed", extra=extra)

    def _show_delta(self, turn_id: TurnId, delta: Delta) -> None:
        try:
            self._observer.on_delta(turn_id, delta)
        except Exception:
            log.exception("an observer failed", extra={"turn_id": turn_id})


def _asked(state: State, committed: Committed) -> State:
    """Take in what people asked of the turn while the step was under way."""
    turn = replace(
        state.turn,
        pause_requested=committed.pause_requested,
        cancel_requested=committed.cancel_requested,
        open_inputs=committed.open_inputs,
    )
    return replace(state, turn=turn)


def _driven(before: State, state: State, committed: Committed) -> Driven:
    wake = tuple(committed.wake)
    if committed.is_ready:
        wake = (*wake, state.turn.id)
    failed = state.turn.status is TurnStatus.FAILED
    abandoned = before.awaited_children if failed else ()
    return Driven(turn=state.turn, wake=wake, abandoned=abandoned)
