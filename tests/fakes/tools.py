"""Tools whose behaviour a test gives them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from runner.core.ids import ConversationId, ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Cancellation, ToolContext, ToolRules
from runner.tools.cancel import CancelFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeTool:
    """A tool that does what it is given to do, with any arguments that bear no complaint."""

    behave: Callable[[JsonObject, ToolContext], object]
    spec: ToolSpec = field(
        default_factory=lambda: ToolSpec(
            name="fake", description="Does what a test says.", parameters={"type": "object"}
        )
    )
    rules: ToolRules = field(default_factory=ToolRules)
    complaint: str | None = None

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return () if self.complaint is None else (self.complaint,)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        return self.behave(arguments, context)


def tool_context(cancelled: Cancellation | None = None) -> ToolContext:
    return ToolContext(
        turn_id=TurnId("turn_1"),
        conversation_id=ConversationId("conv_1"),
        execution_id=ExecutionId("exec_1"),
        agent="editor",
        idempotency_key="turn_1:call_1",
        principal={"user": "ada"},
        context={"tenant": "acme"},
        cancelled=cancelled or CancelFlag(),
    )
