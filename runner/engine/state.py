"""A turn under way, as its execution knows it between two commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner.core.coordination import Outcome
from runner.core.ids import ExecutionId, TurnId, turn_id_of
from runner.core.messages import Message
from runner.core.records import Claim, StepWrite, ToolExecution, Turn
from runner.core.states import ExecutionStatus
from runner.core.tooling import Carrier, Recovery, ToolRules
from runner.definitions.scalars import format_duration
from runner.engine.decide import Budget, OpenCall, Requests, Snapshot
from runner.engine.refusals import refusal
from runner.runtime.agent import Agent


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
            call=self.first_open_call(),
            group=self.group(),
        )

    def first_open_call(self) -> OpenCall | None:
        run = next(iter(self.open_executions), None)
        return None if run is None else self._open_call(run)

    def group(self) -> tuple[ExecutionId, ...]:
        """
        Return the calls of sub-agents at the head of the open calls that may fan out together.

        One that may not be made is passed over and answered when its place has come.
        """
        ids: list[ExecutionId] = []
        for run in self.open_executions:
            call = self._open_call(run)
            if call.carrier is not Carrier.SUB_AGENT or run.status is not ExecutionStatus.PLANNED:
                break
            if call.refusal is None:
                ids.append(run.id)
        return tuple(ids[: self.turn.place.limits.max_fan_out])

    def _open_call(self, run: ToolExecution) -> OpenCall:
        tool = self.agent.tools.get(run.tool)
        rules = tool.rules if tool else ToolRules()
        is_planned = run.status is ExecutionStatus.PLANNED
        return OpenCall(
            id=run.id,
            status=run.status,
            carrier=rules.carrier,
            marked_by_us=(run.status is ExecutionStatus.RUNNING and run.fence == self.claim.fence),
            replay_safe=rules.recovery is Recovery.REPLAY_SAFE,
            refusal=refusal(run, self.agent, self.turn, self.executions) if is_planned else None,
        )

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
