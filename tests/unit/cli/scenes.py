"""Turns, messages and executions for what is shown of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from runner.core.ids import ConversationId, ExecutionId, MessageId, TurnId
from runner.core.messages import Message, Part, Role
from runner.core.model import Usage
from runner.core.records import ToolExecution, Turn, TurnError, TurnKind
from runner.core.states import ExecutionStatus, Phase, TurnStatus

TURN = TurnId("turn_1")
CONVERSATION = ConversationId("conv_1")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def turn(status: TurnStatus, *, result: str | None = None, error: TurnError | None = None) -> Turn:
    return Turn(
        id=TURN,
        conversation_id=CONVERSATION,
        agent="hello",
        definition_hash="abc",
        kind=TurnKind.TASK,
        status=status,
        phase=Phase.MODEL,
        iterations=2,
        tool_executions=1,
        usage=Usage(input_tokens=900, cache_read_tokens=300, output_tokens=45),
        result=result,
        error=error,
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=2) if status.is_ended else None,
    )


def message(
    name: str, parts: Sequence[Part], *, role: Role = Role.ASSISTANT, run: str | None = None
) -> Message:
    return Message(
        id=MessageId(name),
        conversation_id=CONVERSATION,
        turn_id=TURN,
        role=role,
        parts=parts,
        execution_id=None if run is None else ExecutionId(run),
    )


def execution(name: str, tool: str, arguments: dict[str, str]) -> ToolExecution:
    return ToolExecution(
        id=ExecutionId(name),
        turn_id=TURN,
        call_id=f"call_{name}",
        tool=tool,
        position=1,
        arguments=arguments,
        status=ExecutionStatus.COMPLETED,
    )


@dataclass
class Stored:
    """A source of whatever a test put in, which counts how often it is asked for executions."""

    all_messages: list[Message] = field(default_factory=list)
    all_executions: list[ToolExecution] = field(default_factory=list)
    asked: int = 0

    def turn(self, turn_id: str) -> Turn:
        assert turn_id == TURN
        return turn(TurnStatus.RUNNING)

    def executions(self, turn_id: str) -> Sequence[ToolExecution]:
        assert turn_id == TURN
        self.asked += 1
        return self.all_executions

    def messages(self, conversation_id: str) -> Sequence[Message]:
        assert conversation_id == CONVERSATION
        return self.all_messages
