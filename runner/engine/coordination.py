"""The built-in tools by which agents launch turns and write to conversations."""

from collections.abc import Callable
from dataclasses import dataclass

from runner.core.authorization import Action
from runner.core.errors import ToolError
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.ports import Intake, Views
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.definitions.json_schema import Validator
from runner.engine.courier import Courier
from runner.engine.launch import Assignment, Launcher
from runner.runtime.agent import Agent


def coordination_rules(action: Action) -> ToolRules:
    """Return the rules of such a tool, which does the same however often an execution runs."""
    return ToolRules(recovery=Recovery.REPLAY_SAFE, action=action)


class Coordination:
    """What the tools do, once for each execution however often it is run."""

    def __init__(
        self,
        *,
        launcher: Launcher,
        courier: Courier,
        intake: Intake,
        views: Views,
        wake: Callable[[list[TurnId]], None],
    ) -> None:
        self._launcher = launcher
        self._courier = courier
        self._intake = intake
        self._views = views
        self._wake = wake

    def launch(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        """
        Start a child turn without waiting for it.

        Raises:
            NotFound: There is no such agent.
            ToolError: The tree is as deep as it may be, or the input does not fit the agent.
            LimitReached: The tree has no room for another turn.
        """
        parent = self._views.turn(context.turn_id)
        limits = parent.place.limits
        if parent.place.depth >= limits.max_depth:
            raise ToolError(f"limits.max_depth allows {limits.max_depth} levels, and this is one")
        agent = self._launcher.sub_agent(self._launcher.agent_of(parent), str(arguments["agent"]))
        work = Assignment(
            agent=agent,
            task=str(arguments["task"]),
            input=arguments.get("input"),
            callback_to=parent.conversation_id if arguments.get("callback") else None,
        )
        complaints = _input_complaints(agent, work)
        if complaints:
            raise ToolError(f"the input does not fit {agent.name!r}: {'; '.join(complaints)}")
        turn = self._intake.add(self._launcher.child(parent, context.execution_id, work))
        self._wake([turn.id])
        return {"turn_id": turn.id, "conversation_id": turn.conversation_id}

    def send(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        """
        Write to a conversation and wake it.

        Raises:
            NotFound: There is no such conversation.
            LimitReached: Too many messages of turns led to this one.
        """
        delivery = self._courier.send(
            key=f"message:{context.execution_id}",
            sender=self._views.turn(context.turn_id),
            destination=ConversationId(str(arguments["conversation_id"])),
            text=str(arguments["text"]),
        )
        self._wake([delivery.turn_id])
        return {"delivery_id": delivery.id, "turn_id": delivery.turn_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinationTool:
    """One of them, offered to a model."""

    spec: ToolSpec
    act: Callable[[JsonObject, ToolContext], JsonObject]
    rules: ToolRules

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return Validator(self.spec.parameters).complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        return self.act(arguments, context)


def _input_complaints(agent: Agent, work: Assignment) -> tuple[str, ...]:
    schema = agent.definition.input_schema
    if schema is None:
        return () if work.input is None else ("it takes none",)
    return Validator(schema).complaints(work.input)
