"""Drives one claimed turn: decide, perform, commit, until it ends or is let go."""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from runner.core.clock import Clock
from runner.core.errors import HandBack, RunnerError, StoreError
from runner.core.ids import TurnId
from runner.core.model import Delta
from runner.core.ports import Journal, Observer
from runner.core.records import ClaimedTurn, NewEvent, Turn, TurnError
from runner.core.states import TurnStatus
from runner.engine.circumstances import Circumstances
from runner.engine.deadline import Deadline
from runner.engine.decide import (
    CallModel,
    CheckOutput,
    Continue,
    Fail,
    GiveUpCall,
    MarkCall,
    RefuseCall,
    RunCall,
    Step,
    decide,
)
from runner.engine.draft import Draft
from runner.engine.lease import Lease
from runner.engine.model_step import ask_model
from runner.engine.output_step import check_output
from runner.engine.state import State
from runner.engine.tool_step import run_tool
from runner.runtime.absent import absent_agent
from runner.runtime.agent import Agent

log = logging.getLogger(__name__)

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
    #: The turn that may start now that this one has ended.
    next_turn: TurnId | None = None
    #: The slice was up, so the turn should be looked at again at once.
    again: bool = False


class Driver:
    """Performs the steps of claimed turns. One driver serves all threads of a process."""

    def __init__(
        self,
        *,
        journal: Journal,
        agent_of: Callable[[Turn], Agent],
        observer: Observer,
        clock: Clock,
        max_claims: int,
    ) -> None:
        self._journal = journal
        self._agent_of = agent_of
        self._observer = observer
        self._clock = clock
        self._max_claims = max_claims

    def drive(self, claimed: ClaimedTurn, lease: Lease, pace: Pace) -> Driven:
        """
        Take a claimed turn as far as it goes.

        Raises:
            ClaimLost: The turn is someone else's by now.
            StoreError: The database did not take a step; the lease ends by itself.
        """
        deadline = Deadline(claimed.seconds_left, self._clock)
        turn_id = claimed.turn.id
        around = Circumstances(
            lease=lease,
            deadline=deadline,
            clock=self._clock,
            jitter=random.random,
            patience=pace.patience,
            on_delta=lambda delta: self._show_delta(turn_id, delta),
        )
        try:
            agent = self._agent_of(claimed.turn)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep the turn
            return self._put_off(claimed, deadline, error)
        state = self._load(claimed, agent)
        give_back_at = self._clock.monotonic() + (pace.slice or float("inf"))
        while True:
            draft = self._next(state, around)
            next_turn = self._commit(draft)
            state = draft.state
            if state.turn.status is not TurnStatus.RUNNING:
                return Driven(turn=state.turn, next_turn=next_turn)
            # Only after a step that left something to read, so that every slice gets somewhere.
            if draft.write.messages and self._clock.monotonic() >= give_back_at:
                return self._give_back(state)

    def _load(self, claimed: ClaimedTurn, agent: Agent) -> State:
        turn = claimed.turn
        return State(
            claim=claimed.claim,
            turn=turn,
            agent=agent,
            messages=tuple(self._journal.transcript(turn.conversation_id)),
            executions={run.id: run for run in self._journal.executions(turn.id)},
            max_claims=self._max_claims,
        )

    def _put_off(self, claimed: ClaimedTurn, deadline: Deadline, error: Exception) -> Driven:
        """
        Let go of a turn whose agent cannot be brought to life here; end it when its time is over.

        Until then another worker may be able to, or this one after what is missing was mended.
        """
        turn = claimed.turn
        said = str(error) if isinstance(error, RunnerError) else f"{type(error).__name__}: {error}"
        log.warning("agent unavailable", extra={"turn_id": turn.id, "error": said})
        draft = Draft(self._load(claimed, absent_agent(turn.agent, turn.definition_hash)))
        message = f"agent {turn.agent!r} cannot be brought to life: {said}"
        if deadline.seconds_left > 0:
            draft.hand_back(message, delay=_PUT_OFF)
        else:
            draft.fail(TurnError(code="agent_unavailable", message=message))
        next_turn = self._commit(draft)
        return Driven(turn=draft.state.turn, next_turn=next_turn)

    def _next(self, state: State, around: Circumstances) -> Draft:
        """Perform the next step; an error of ours fails the turn instead of being tried again."""
        begun = None
        try:
            around.lease.check()
            step = decide(state.snapshot(seconds_left=around.deadline.seconds_left))
            begun = step.id if isinstance(step, RunCall) else None
            return _perform(step, state, around)
        except HandBack as request:
            draft = Draft(state, begun=begun)
            draft.hand_back(str(request))
            return draft
        except StoreError:
            raise
        except Exception as error:
            log.exception("a step failed", extra={"turn_id": state.turn.id})
            draft = Draft(state, begun=begun)
            draft.fail(TurnError(code="internal", message=f"{type(error).__name__}: {error}"))
            return draft

    def _commit(self, draft: Draft) -> TurnId | None:
        write = draft.write
        next_turn = self._journal.commit(write)
        for event in write.events:
            self._show_event(write.turn.id, event)
        return next_turn

    def _give_back(self, state: State) -> Driven:
        draft = Draft(state)
        draft.hand_back("its slice was up")
        self._commit(draft)
        return Driven(turn=draft.state.turn, again=True)

    def _show_event(self, turn_id: TurnId, event: NewEvent) -> None:
        try:
            self._observer.on_event(turn_id, event)
        except Exception:
            log.exception("an observer failed", extra={"turn_id": turn_id, "event": event.kind})

    def _show_delta(self, turn_id: TurnId, delta: Delta) -> None:
        try:
            self._observer.on_delta(turn_id, delta)
        except Exception:
            log.exception("an observer failed", extra={"turn_id": turn_id})


def _perform(step: Step, state: State, around: Circumstances) -> Draft:
    match step:
        case CallModel():
            return ask_model(state, around)
        case RunCall(id=run_id):
            return run_tool(state, run_id, around)
        case CheckOutput():
            return check_output(state)
        case MarkCall() | RefuseCall() | GiveUpCall() | Continue():
            draft = Draft(state)
            draft.settle()
            return draft
        case Fail(error=error):
            draft = Draft(state)
            draft.fail(error)
            return draft
        case _:
            assert_never(step)
