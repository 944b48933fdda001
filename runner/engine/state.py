"""A turn under way, as its execution knows it between two commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner.core.ids import ExecutionId
from runner.core.messages import Message
from runner.core.records import Claim, StepWrite, ToolExecution, Turn
from runner.core.states import ExecutionStatus
from runner.core.tooling import Recovery
from runner.definitions.scalars import format_duration
from runner.engine.decide import Budget, OpenCall, Snapshot
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

    @property
    def next_seq(self) -> int:
        return (self.messages[-1].seq or 0) + 1 if self.messages else 1

    @property
    def open_executions(self) -> tuple[ToolExecution, ...]:
        return tuple(run for run in self.executions.values() if not run.status.is_ended)

    @property
    def timeout(self) -> str:
        return format_duration(self.agent.definition.limits.timeout)

    def snapshot(self, *, seconds_left: float) -> Snapshot:
        return Snapshot(
            phase=self.turn.phase,
            budget=Budget(
                iterations=self.turn.iterations,
                max_iterations=self.agent.definition.limits.max_iterations,
                seconds_left=seconds_left,
                timeout=self.timeout,
                claims=self.turn.claims,
                max_claims=self.max_claims,
            ),
            call=self.first_open_call(),
        )

    def first_open_call(self) -> OpenCall | None:
        run = next(iter(self.open_executions), None)
        if run is None:
            return None
        tool = self.agent.tools.get(run.tool)
        running = run.status is ExecutionStatus.RUNNING
        return OpenCall(
            id=run.id,
            status=run.status,
            marked_by_us=running and run.fence == self.claim.fence,
            replay_safe=tool is not None and tool.rules.recovery is Recovery.REPLAY_SAFE,
            refusal=None if running else refusal(run, self.agent, self.turn, self.executions),
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
            )
        return replace(
            self,
            turn=write.turn,
            messages=(*self.messages, *write.messages),
            executions=executions,
        )
