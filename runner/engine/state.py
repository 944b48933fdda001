"""A turn under way, as its execution knows it between two commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner.core.approvals import Approval
from runner.core.authorization import Effect
from runner.core.coordination import Outcome
from runner.core.ids import ExecutionId, TurnId, turn_id_of
from runner.core.messages import Message
from runner.core.records import Claim, StepWrite, ToolExecution, Turn
from runner.core.states import ExecutionStatus
from runner.core.tooling import Carrier, Recovery, ToolRules
from runner.definitions.scalars import format_duration
from runner.engine.decide import Budget, OpenCall, Requests, Snapshot
from runner.engine.permits import Permits
from runner.engine.refusals import improper, over_limit, unapproved
from runner.runtime.agent import Agent
from runner.tools.results import denied

_BEGUN = (ExecutionStatus.RUNNING, ExecutionStatus.READY)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    What was read once when the turn was claimed, and every step committed since.

    Its executions are the turn's own; its messages are the whole conversation's.
    """

    claim: Claim
    turn: Turn
    agent: Agent
    messages: Sequence[Message]
    executions: Mapping[ExecutionId, ToolExecution]
    max_claims: int
    permits: Permits
    #: The approvals that were answered, by the call they are for.
    answers: Mapping[ExecutionId, Approval]
    #: How the turns ended that this one was submitted to wait for.
    joined: Sequence[Outcome] = ()

    @property
    def next_seq(self) -> int:
        return (self.messages[-1].seq or 0) + 1 if self.messages else 1

    @property
    def open_executions(self) -> tuple[ToolExecution, ...]:
        return tuple(run for run in self.executions.values() if not run.status.is_ended)

    @property
    def awaited_children(self) -> tuple[TurnId, ...]:
        """The turns this one started and waits for; not those it only waits for."""
        runs = self.open_executions
        return tuple(i for run in runs for i in run.awaits if i == turn_id_of(run.id))

    @property
    def timeout(self) -> str:
        return format_duration(self.agent.definition.limits.timeout)

    def snapshot(self, *, seconds_left: float) -> Snapshot:
        turn = self.turn
        call = self.current_call()
        return Snapshot(
            phase=turn.phase,
            budget=Budget(
                iterations=turn.iterations,
                max_iterations=self.agent.definition.limits.max_iterations,
                seconds_left=seconds_left,
                timeout=self.timeout,
                claims=turn.claims,
                max_claims=self.max_claims,
            ),
            requests=Requests(
                cancel=turn.cancel_requested, pause=turn.pause_requested, inputs=turn.open_inputs
            ),
            call=call,
            group=self._group(call),
            is_open=bool(self.open_executions),
            is_joining=any(map(self._is_awaited, self.open_executions)),
        )

    def current_call(self) -> OpenCall | None:
        """Return the open call whose place has come; None if there is none, or all have to wait."""
        begun = (run for status in _BEGUN for run in self.open_executions if run.status is status)
        run = next(begun, None) or self._next_in_order()
        return None if run is None else self._open_call(run)

    def asks_about(self, run: ToolExecution) -> bool:
        """Tell whether a person has to agree before a call is made."""
        ruling = self.permits.on(run, self._rules(run))
        return ruling.verdict.effect is Effect.ASK and self._open_call(run).asks

    def _next_in_order(self) -> ToolExecution | None:
        """
        Return the first call that neither people nor other turns have to come back to.

        One that people are asked about is passed over. One that other turns work on is not, except
        by sub-agents' calls right behind it, which fan out with it.
        """
        is_joining = is_apart = False
        for run in self.open_executions:
            delegates = self._rules(run).carrier is Carrier.SUB_AGENT
            if self._is_awaited(run):
                is_joining, is_apart = True, not delegates
            elif self._is_asking(run):
                is_apart = is_apart or not delegates
            else:
                may_follow = not is_joining or not is_apart
                fans_out = delegates and run.status is not ExecutionStatus.WAITING
                fits = self._room > 0 if fans_out else not is_joining
                return run if may_follow and fits else None
        return None

    def _group(self, first: OpenCall | None) -> tuple[ExecutionId, ...]:
        """
        Return the calls of sub-agents, from the first on, that may fan out together.

        One that may not be made is passed over and answered when its place has come.
        """
        if first is None or first.carrier is not Carrier.SUB_AGENT:
            return ()
        ids: list[ExecutionId] = []
        room = self._room
        place = self.executions[first.id].position
        for run in self.open_executions:
            if run.position < place or self._is_awaited(run) or self._is_asking(run):
                continue
            call = self._open_call(run)
            if call.carrier is not Carrier.SUB_AGENT:
                break
            if call.refusal is None and not call.asks:
                ids.append(run.id)
            if len(ids) == room:
                break
        return tuple(ids)

    @property
    def _room(self) -> int:
        """How many more children may be at work at the same time."""
        at_work = sum(map(self._is_awaited, self.open_executions))
        return max(self.turn.place.limits.max_fan_out - at_work, 0)

    def _is_awaited(self, run: ToolExecution) -> bool:
        """Tell whether turns that work on a call have not all ended, as far as is known."""
        return run.status is ExecutionStatus.WAITING and self.turn.open_waits > 0

    def _is_asking(self, run: ToolExecution) -> bool:
        return run.status is ExecutionStatus.ASKING and run.id not in self.answers

    def _rules(self, run: ToolExecution) -> ToolRules:
        tool = self.agent.tools.get(run.tool)
        return tool.rules if tool else ToolRules()

    def _open_call(self, run: ToolExecution) -> OpenCall:
        rules = self._rules(run)
        refusal, asks = self._objection(run, rules)
        return OpenCall(
            id=run.id,
            status=run.status,
            carrier=rules.carrier,
            marked_by_us=(run.status is ExecutionStatus.RUNNING and run.fence == self.claim.fence),
            replay_safe=rules.recovery is Recovery.REPLAY_SAFE,
            refusal=refusal,
            asks=asks,
        )

    def _objection(self, run: ToolExecution, rules: ToolRules) -> tuple[str | None, bool]:
        """
        Say what stands in the way of a call that is to begin: a refusal, or a person to be asked.

        A call that could not be made anyway is refused before anybody is asked, and before limits
        are looked at, so that it counts against none.
        """
        is_new = run.status in {ExecutionStatus.PLANNED, ExecutionStatus.ASKING}
        again = run.status is ExecutionStatus.READY and not self.permits.is_granted(run.id)
        if not (is_new or again):
            return None, False
        approval = self.answers.get(run.id)
        refusal = improper(run, self.agent, self.executions) or unapproved(approval)
        if refusal is not None:
            return refusal, False
        verdict = self.permits.on(run, rules).verdict
        if verdict.effect is Effect.DENY:
            return denied(verdict.reason), False
        refusal = over_limit(run, self.agent, self.turn, self.executions) if is_new else None
        is_unasked = verdict.effect is Effect.ASK and approval is None
        return refusal, is_unasked and refusal is None

    def after(self, write: StepWrite) -> "State":
        """Return the state once *write* is committed."""
        executions = {**self.executions, **{run.id: run for run in write.planned}}
        for move in write.moves:
            marked = move.status is ExecutionStatus.RUNNING
            executions[move.id] = replace(
                executions[move.id],
                status=move.status,
                fence=self.claim.fence if marked else executions[move.id].fence,
                awaits=move.awaits or executions[move.id].awaits,
            )
        return replace(
            self,
            turn=write.turn,
            messages=(*self.messages, *write.messages),
            executions=executions,
        )
