"""Turns, messages and executions for what is shown of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from runner.core.cost import Cost
from runner.core.errors import StoreUnavailable
from runner.core.ids import ConversationId, ExecutionId, MessageId, TurnId
from runner.core.messages import Message, Part, Role
from runner.core.model import Usage
from runner.core.records import ToolExecution, Turn, TurnError, TurnKind
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.core.tree import Place

TURN = TurnId("turn_1")
CONVERSATION = ConversationId("conv_1")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def turn(
    status: TurnStatus,
    *,
    turn_id: TurnId = TURN,
    parent: TurnId | None = None,
    agent: str = "hello",
    result: str | None = None,
    error: TurnError | None = None,
) -> Turn:
    """A turn; one with a parent is right below the root."""
    return Turn(
        id=turn_id,
        conversation_id=CONVERSATION,
        agent=agent,
        place=Place(root_id=TURN, parent_id=parent, depth=0 if parent is None else 1),
        definition_hash="abc",
        kind=TurnKind.TASK,
        status=status,
        phase=Phase.MODEL,
        iterations=2,
        tool_executions=1,
        usage=Usage(input_tokens=900, cache_read_tokens=300, output_tokens=45),
        cost=Cost(usd=Decimal("0.0312")),
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
    """
    A source of whatever a test put in, which counts how often it is asked for executions.

    Its turns are a tree, the top one first.
    """

    all_messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=lambda: [turn(TurnStatus.RUNNING)])
    all_executions: list[ToolExecution] = field(default_factory=list)
    asked: int = 0
    #: Whether looking at a tree fails.
    is_down: bool = False

    def turn(self, turn_id: str) -> Turn:
        return next(each for each in self.turns if each.id == turn_id)

    def tree(self, turn_id: str) -> Sequence[Turn]:
        assert turn_id == self.turns[0].id
        if self.is_down:
            raise StoreUnavailable("the database does not answer")
        return self.turns

    def executions(self, turn_id: str) -> Sequence[ToolExecution]:
        self.asked += 1
        return [run for run in self.all_executions if run.turn_id == turn_id]

    def messages(self, conversation_id: str) -> Sequence[Message]:
        assert conversation_id == CONVERSATION
        return self.all_messages
