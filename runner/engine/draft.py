"""One step being put together, until it is committed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from runner.core.approvals import NewApproval, Question
from runner.core.coordination import Input
from runner.core.ids import (
    ExecutionId,
    InputId,
    MessageId,
    TurnId,
    new_approval_id,
    new_execution_id,
    new_message_id,
)
from runner.core.jsonvalue import JsonValue
from runner.core.messages import Message, Origin, Part, Role, ToolCall
from runner.core.model import ModelResponse
from runner.core.records import (
    ExecutionMove,
    NewEvent,
    NewTurn,
    StepWrite,
    ToolExecution,
    Turn,
    TurnError,
)
from runner.core.states import ExecutionStatus, Phase, TurnStatus, ensure_move
from runner.core.tree import Reservation
from runner.engine.state import State


class Draft:
    """
    The changes of one step, kept consistent with each other while they are added.

    `state` is always the turn as it would be if the step were committed now. *begun* names the
    call whose effect may have happened in this step, should it end without an outcome.

    What a step takes from its tree, or ends, comes last in it: `save` marks the place. The store
    may refuse just that; `restore` then leaves the rest of the step standing.
    """

    def __init__(self, state: State, *, begun: ExecutionId | None = None) -> None:
        self._before = state
        self._begun = begun
        turn = state.turn
        self._write = StepWrite(claim=state.claim, turn=replace(turn, step=turn.step + 1, claims=0))
        self._saved = self._write
        #: The state that a write leads to, while there is no other write.
        self._reached: tuple[StepWrite, State] | None = None

    @property
    def before(self) -> State:
        """The state the step began with."""
        return self._before

    @property
    def state(self) -> State:
        if self._reached is None or self._reached[0] is not self._write:
            self._reached = self._write, self._before.after(self._write)
        return self._reached[1]

    @property
    def turn(self) -> Turn:
        """The turn as the step leaves it."""
        return self._write.turn

    @turn.setter
    def turn(self, turn: Turn) -> None:
        self._write = replace(self._write, turn=turn)

    @property
    def write(self) -> StepWrite:
        return self._write

    def save(self) -> None:
        """Remember the step without what comes last in it."""
        self._saved = self._write

    def restore(self) -> None:
        """Take back what came last in the step."""
        self._write = self._saved

    def last_moved(self) -> tuple[ExecutionId, ...]:
        """Return the calls that the last part of the step was about, in call order."""
        before = self._before.after(self._saved).executions
        now = self.state.executions
        return tuple(i for i, run in now.items() if run.status is not before[i].status)

    def note(self, kind: str, **body: JsonValue) -> None:
        """Add an event."""
        self._write = replace(
            self._write, events=(*self._write.events, NewEvent(kind=kind, body=body))
        )

    def say(
        self,
        role: Role,
        parts: Sequence[Part],
        *,
        origin: Origin | None = None,
        execution_id: ExecutionId | None = None,
    ) -> Message:
        """Append a message."""
        message = Message(
            id=new_message_id(),
            conversation_id=self.turn.conversation_id,
            turn_id=self.turn.id,
            role=role,
            parts=tuple(parts),
            seq=self._before.next_seq + len(self._write.messages),
            origin=origin,
            execution_id=execution_id,
        )
        self._write = replace(self._write, messages=(*self._write.messages, message))
        self.note("message.created", message_id=message.id, role=role.value, seq=message.seq)
        return message

    def count_response(self, response: ModelResponse) -> None:
        """Record that a model request was answered, and what that took."""
        turn = self.turn
        self.turn = replace(
            turn,
            usage=turn.usage + response.usage,
            cost=turn.cost.with_request(response.cost),
            attempts=0,
        )

    def count_attempt(self) -> None:
        """Record that an attempt at the current model request failed."""
        self.turn = replace(self.turn, attempts=self.turn.attempts + 1)

    def plan(self, calls: Sequence[ToolCall]) -> None:
        """Store what the model asked for, one execution for each call."""
        first = len(self._before.executions) + 1
        planned = tuple(
            ToolExecution(
                id=new_execution_id(),
                turn_id=self.turn.id,
                call_id=call.call_id,
                tool=call.name,
                position=first + index,
                arguments=call.arguments,
                status=ExecutionStatus.PLANNED,
            )
            for index, call in enumerate(calls)
        )
        self._write = replace(self._write, planned=planned)
        self.enter(Phase.TOOLS)

    def enter(self, phase: Phase) -> None:
        self.turn = replace(self.turn, phase=phase)

    def reserve_request(self) -> None:
        """Take one model request from the tree, and be about to make it."""
        self.turn = replace(self.turn, phase=Phase.MODEL, iterations=self.turn.iterations + 1)
        self._reserve(Reservation(iterations=1))

    def reserve_execution(self, run_id: ExecutionId, number: int = 1) -> None:
        """Take an execution of this call from the tree, or give it back."""
        tool = self.call(run_id).name
        self.turn = replace(self.turn, tool_executions=self.turn.tool_executions + number)
        self._reserve(Reservation(tool_executions=number, by_name={tool: number}))

    def launch(self, children: Sequence[NewTurn]) -> None:
        """Take these child turns from the tree, and create them."""
        self._write = replace(self._write, children=(*self._write.children, *children))
        self._reserve(Reservation(iterations=len(children), children=len(children)))

    def move(
        self, run_id: ExecutionId, status: ExecutionStatus, *, awaits: Sequence[TurnId] = ()
    ) -> None:
        """Change an execution's status; one planned in this very step is stored with it."""
        fence = self._write.claim.fence if status is ExecutionStatus.RUNNING else None
        if any(run.id == run_id for run in self._write.planned):
            planned = tuple(
                replace(run, status=status, fence=fence or run.fence, awaits=awaits or run.awaits)
                if run.id == run_id
                else run
                for run in self._write.planned
            )
            self._write = replace(self._write, planned=planned)
            return
        moves = {move.id: move for move in self._write.moves}
        moves[run_id] = ExecutionMove(id=run_id, status=status, awaits=awaits)
        self._write = replace(self._write, moves=tuple(moves.values()))

    def ask(self, run_id: ExecutionId, question: Question, *, expires: timedelta) -> None:
        """Put a question to people, for which its execution is asking from now on."""
        new = NewApproval(
            id=new_approval_id(), execution_id=run_id, question=question, expires=expires
        )
        self._write = replace(self._write, approvals=(*self._write.approvals, new))
        self.turn = replace(self.turn, open_approvals=self.turn.open_approvals + 1)
        self.move(run_id, ExecutionStatus.ASKING)
        self.note(
            "approval.requested",
            approval_id=new.id,
            execution_id=run_id,
            tool=question.tool,
            reason=question.reason,
            source=question.source,
            expires=expires.total_seconds(),
        )

    def withdraw_questions(self) -> None:
        """Let people answer nothing more, because all open calls are closed."""
        if self.turn.open_approvals:
            self._write = replace(self._write, withdraws=True)
            self.turn = replace(self.turn, open_approvals=0)

    def take(self, inputs: Mapping[InputId, MessageId]) -> None:
        """Record which messages hold the inputs the turn was given; it has no others."""
        self._write = replace(self._write, inputs=inputs)
        self.turn = replace(self.turn, open_inputs=0)

    def continue_with(self, continuation: NewTurn, inputs: Sequence[Input]) -> None:
        """Let another turn of the conversation take the inputs over."""
        self.take({given.id: continuation.trigger.id for given in inputs})
        self._write = replace(self._write, continuation=continuation)

    def become(self, status: TurnStatus, *, delay: timedelta | None = None) -> None:
        """Change the turn's status; with a delay, it is not to be claimed before that is over."""
        ensure_move(self.turn.status, status)
        self.turn = replace(self.turn, status=status)
        self._write = replace(self._write, delay=delay)

    def finish(
        self,
        *,
        result: str | None = None,
        output_data: JsonValue = None,
        error: TurnError | None = None,
    ) -> None:
        """Set what the turn leaves behind."""
        self.turn = replace(self.turn, result=result, output_data=output_data, error=error)

    def forget_pause(self) -> None:
        self.turn = replace(self.turn, pause_requested=False)

    def call(self, run_id: ExecutionId) -> ToolCall:
        """Return what the model asked for with this execution."""
        # That never changes, so no state is put together for it: a step may answer many calls.
        run = self._before.executions.get(run_id)
        if run is None:
            run = next(run for run in self._write.planned if run.id == run_id)
        return ToolCall(call_id=run.call_id, name=run.tool, arguments=run.arguments)

    def is_unbegun(self, run: ToolExecution) -> bool:
        """Tell whether a call is marked running and has had no effect for certain."""
        is_ours = run.fence == self._write.claim.fence and run.id != self._begun
        return run.status is ExecutionStatus.RUNNING and is_ours

    def _reserve(self, more: Reservation) -> None:
        taken = self._write.reserve
        tools = {*taken.by_name, *more.by_name}
        by_name = {tool: taken.by_name.get(tool, 0) + more.by_name.get(tool, 0) for tool in tools}
        reserve = Reservation(
            iterations=taken.iterations + more.iterations,
            tool_executions=taken.tool_executions + more.tool_executions,
            by_name=by_name,
            children=taken.children + more.children,
        )
        self._write = replace(self._write, reserve=reserve)
