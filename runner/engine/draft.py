"""One step being put together, until it is committed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from runner.core.ids import ExecutionId, new_execution_id, new_message_id
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Message, Origin, Part, Role, Text, ToolCall, ToolResult
from runner.core.model import Usage
from runner.core.records import ExecutionMove, NewEvent, StepWrite, ToolExecution, TurnError
from runner.core.states import ExecutionStatus, Phase, TurnStatus, ensure_move
from runner.engine.decide import (
    Continue,
    GiveUpCall,
    MarkCall,
    OpenCall,
    RefuseCall,
    next_call,
)
from runner.engine.state import State
from runner.tools import results


class Draft:
    """
    The changes of one step, kept consistent with each other while they are added.

    `state` is always the turn as it would be if the step were committed now. *begun* names the
    call whose effect may have happened in this step, should it end without an outcome.
    """

    def __init__(self, state: State, *, begun: ExecutionId | None = None) -> None:
        self._before = state
        self._begun = begun
        turn = state.turn
        self._write = StepWrite(claim=state.claim, turn=replace(turn, step=turn.step + 1, claims=0))

    @property
    def state(self) -> State:
        return self._before.after(self._write)

    @property
    def write(self) -> StepWrite:
        return self._write

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
        turn = self._write.turn
        message = Message(
            id=new_message_id(),
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            role=role,
            parts=tuple(parts),
            seq=self._before.next_seq + len(self._write.messages),
            origin=origin,
            execution_id=execution_id,
        )
        self._write = replace(self._write, messages=(*self._write.messages, message))
        self.note("message.created", message_id=message.id, role=role.value, seq=message.seq)
        return message

    def count_response(self, usage: Usage) -> None:
        """Record that a model request was answered."""
        turn = self._write.turn
        self._write = replace(self._write, turn=replace(turn, usage=turn.usage + usage, attempts=0))

    def count_attempt(self) -> None:
        """Record that an attempt at the current model request failed."""
        turn = self._write.turn
        self._write = replace(self._write, turn=replace(turn, attempts=turn.attempts + 1))

    def plan(self, calls: Sequence[ToolCall]) -> None:
        """Store what the model asked for, one execution for each call."""
        first = len(self._before.executions) + 1
        planned = tuple(
            ToolExecution(
                id=new_execution_id(),
                turn_id=self._write.turn.id,
                call_id=call.call_id,
                tool=call.name,
                position=first + index,
                arguments=call.arguments,
                status=ExecutionStatus.PLANNED,
            )
            for index, call in enumerate(calls)
        )
        self._write = replace(self._write, planned=planned)
        self._enter(Phase.TOOLS)

    def answer(
        self,
        run_id: ExecutionId,
        status: ExecutionStatus,
        result: ToolResult,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        """End an execution with its one result, and append what the tool had to add."""
        self._move(run_id, status)
        self.say(Role.TOOL, [result], execution_id=run_id)
        for text in notes:
            self.say(Role.NOTICE, [Text(text=text)])
        self.note(
            "tool_call.ended",
            execution_id=run_id,
            tool=result.name,
            status=status.value,
        )

    def settle(self) -> None:
        """
        Go on to the next call that has to be run, answering those that may not be.

        Marks it running, so that the commit that ends one call allows the next; once every call
        is answered, reserves the next model request.
        """
        while True:
            match next_call(self.state.first_open_call()):
                case RefuseCall(id=run_id, reason=reason):
                    self.refuse(run_id, reason)
                case GiveUpCall(id=run_id):
                    self.give_up(run_id)
                case MarkCall(id=run_id):
                    self.mark(run_id)
                    return
                case Continue():
                    self.ask_again()
                    return
                case _:
                    return

    def refuse(self, run_id: ExecutionId, reason: str) -> None:
        call = self._call(run_id)
        self.answer(run_id, ExecutionStatus.REFUSED, results.refused(call, reason))

    def give_up(self, run_id: ExecutionId) -> None:
        call = self._call(run_id)
        self.answer(run_id, ExecutionStatus.INTERRUPTED, results.interrupted(call))

    def mark(self, run_id: ExecutionId) -> None:
        """Record that the effect of this call may begin."""
        self._move(run_id, ExecutionStatus.RUNNING)
        self.count_execution()
        self.note("tool_call.started", execution_id=run_id, tool=self._call(run_id).name)

    def count_execution(self, number: int = 1) -> None:
        turn = self._write.turn
        self._write = replace(
            self._write, turn=replace(turn, tool_executions=turn.tool_executions + number)
        )

    def ask_again(self) -> None:
        """Reserve the next model request."""
        turn = self._write.turn
        self._write = replace(
            self._write, turn=replace(turn, phase=Phase.MODEL, iterations=turn.iterations + 1)
        )

    def check_output(self) -> None:
        self._enter(Phase.OUTPUT)

    def complete(self, result: str, output_data: JsonValue = None) -> None:
        """End the turn with a result, skipping whatever calls are open."""
        self._close_calls("the turn had already ended")
        self._become(TurnStatus.COMPLETED)
        turn = replace(self._write.turn, result=result, output_data=output_data)
        self._write = replace(self._write, turn=turn)
        self.note("turn.completed", usage=_usage(turn.usage))

    def fail(self, error: TurnError) -> None:
        """End the turn with an error, answering whatever calls are open."""
        self._close_calls("the turn failed before this call's place came")
        self._become(TurnStatus.FAILED)
        turn = replace(self._write.turn, error=error)
        self._write = replace(self._write, turn=turn)
        self.note("turn.failed", code=error.code, message=error.message, usage=_usage(turn.usage))

    def hand_back(self, reason: str, *, delay: timedelta | None = None) -> None:
        """Let go of the turn; a call that was marked but not begun is planned again."""
        call = self.state.first_open_call()
        if call is not None and self._is_unbegun(call):
            self._move(call.id, ExecutionStatus.PLANNED)
            self.count_execution(-1)
        self._become(TurnStatus.PENDING)
        self._write = replace(self._write, delay=delay)
        self.note("turn.released", reason=reason, delay=delay.total_seconds() if delay else 0)

    def _close_calls(self, why: str) -> None:
        while True:
            call = self.state.first_open_call()
            if call is None:
                return
            if call.status is ExecutionStatus.RUNNING and not self._is_unbegun(call):
                self.give_up(call.id)
            else:
                self._skip(call, why)

    def _skip(self, call: OpenCall, why: str) -> None:
        if call.status is ExecutionStatus.RUNNING:
            self.count_execution(-1)
        skipped = results.skipped(self._call(call.id), why)
        self.answer(call.id, ExecutionStatus.SKIPPED, skipped)

    def _is_unbegun(self, call: OpenCall) -> bool:
        """Tell whether a call that is marked running has had no effect for certain."""
        return call.marked_by_us and call.id != self._begun

    def _call(self, run_id: ExecutionId) -> ToolCall:
        run = self.state.executions[run_id]
        return ToolCall(call_id=run.call_id, name=run.tool, arguments=run.arguments)

    def _move(self, run_id: ExecutionId, status: ExecutionStatus) -> None:
        """Change an execution's status; one planned in this very step is stored with it."""
        fence = self._write.claim.fence if status is ExecutionStatus.RUNNING else None
        if any(run.id == run_id for run in self._write.planned):
            planned = tuple(
                replace(run, status=status, fence=fence or run.fence) if run.id == run_id else run
                for run in self._write.planned
            )
            self._write = replace(self._write, planned=planned)
            return
        moves = {move.id: move for move in self._write.moves}
        moves[run_id] = ExecutionMove(id=run_id, status=status)
        self._write = replace(self._write, moves=tuple(moves.values()))

    def _enter(self, phase: Phase) -> None:
        self._write = replace(self._write, turn=replace(self._write.turn, phase=phase))

    def _become(self, status: TurnStatus) -> None:
        ensure_move(self._write.turn.status, status)
        self._write = replace(self._write, turn=replace(self._write.turn, status=status))


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "thinking_tokens": usage.thinking_tokens,
    }
