"""New turns that turns ask for: children, and continuations of conversations."""

from collections.abc import Callable
from dataclasses import dataclass

from runner.core.errors import NotFound
from runner.core.ids import (
    ConversationId,
    ExecutionId,
    TurnId,
    new_conversation_id,
    new_message_id,
    new_turn_id,
    turn_id_of,
)
from runner.core.jsonvalue import JsonObject, JsonValue, canonical_json, storable
from runner.core.messages import Message, Part, Role, Text
from runner.core.ports import Intake, Views
from runner.core.records import NewTurn, Turn, TurnKind
from runner.core.states import TurnStatus
from runner.core.tree import Place
from runner.runtime.agent import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a child turn is to do."""

    agent: Agent
    task: str
    input: JsonValue = None
    callback_to: ConversationId | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        return task_parts(self.task, self.input)


class Launcher:
    """Makes the turns that turns ask for, with the current definitions of their agents."""

    def __init__(
        self,
        *,
        intake: Intake,
        views: Views,
        agent_named: Callable[[str], Agent],
        agent_of: Callable[[Turn], Agent],
    ) -> None:
        self._intake = intake
        self._views = views
        self._agent_named = agent_named
        #: Brings the definition that a turn began with to life.
        self.agent_of = agent_of

    def assign(self, parent: Agent, tool: str, arguments: JsonObject) -> Assignment:
        """
        Read the arguments of a sub-agent's call.

        Raises:
            NotFound: The sub-agent is not defined any more.
        """
        agent = self.sub_agent(parent, tool)
        return Assignment(agent=agent, task=str(arguments["task"]), input=arguments.get("input"))

    def sub_agent(self, parent: Agent, name: str) -> Agent:
        """
        Return the agent that *parent* calls by this name: written inside it, or as defined now.

        Raises:
            NotFound: There is none any more.
        """
        return parent.inline.get(name) or self._agent_named(name)

    def turn(self, turn_id: TurnId) -> Turn:
        """
        Read a turn.

        Raises:
            NotFound: There is no such turn.
        """
        return self._views.turn(turn_id)

    def child(self, parent: Turn, launched_by: ExecutionId, work: Assignment) -> NewTurn:
        """Make a child turn; its id is the same whenever the same execution asks for it."""
        self._save(work.agent)
        turn_id = turn_id_of(launched_by)
        conversation_id = new_conversation_id()
        place = Place(
            root_id=parent.place.root_id,
            parent_id=parent.id,
            launched_by=launched_by,
            depth=parent.place.depth + 1,
            hops=parent.place.hops,
            limits=parent.place.limits,
            ancestors=parent.lineage,
        )
        return NewTurn(
            id=turn_id,
            conversation_id=conversation_id,
            starts_conversation=True,
            agent=work.agent.name,
            definition_hash=work.agent.content_hash,
            kind=TurnKind.TASK,
            status=TurnStatus.PENDING,
            trigger=_trigger(conversation_id, turn_id, work.parts),
            timeout=work.agent.definition.limits.timeout,
            place=place,
            callback_to=work.callback_to,
            principal=parent.principal,
        )

    def continuation(self, conversation_id: ConversationId, text: str, *, hops: int = 0) -> NewTurn:
        """
        Make a turn that answers *text* in a conversation, for the principal of that conversation.

        *hops* counts the messages of turns that led to it.

        Raises:
            NotFound: There is no such conversation.
        """
        last = self._views.latest_turn(conversation_id)
        shared = self._views.conversation(conversation_id).shared
        agent = self._current(last)
        self._save(agent)
        turn_id = new_turn_id()
        return NewTurn(
            id=turn_id,
            conversation_id=conversation_id,
            starts_conversation=False,
            agent=agent.name,
            definition_hash=agent.content_hash,
            # A conversation keeps its kind, and with it the system prompt it began with.
            kind=last.kind,
            status=TurnStatus.PENDING,
            trigger=_trigger(conversation_id, turn_id, (Text(text=text),)),
            timeout=agent.definition.limits.timeout,
            place=Place(root_id=turn_id, hops=hops, limits=agent.tree_limits),
            principal=last.principal,
            context=shared.context,
            subject=shared.subject,
        )

    def _current(self, turn: Turn) -> Agent:
        """Return the agent as it is defined now or, when it is gone, as it was then."""
        try:
            return self._agent_named(turn.agent)
        except NotFound:
            return self.agent_of(turn)

    def _save(self, agent: Agent) -> None:
        self._intake.save_definition(
            content_hash=agent.content_hash,
            kind="agent",
            name=agent.name,
            body=agent.definition.canonical(),
        )


def task_parts(task: str, data: JsonValue) -> tuple[Part, ...]:
    """Write a task and its structured input as the parts of one message."""
    parts = [Text(text=task)] if task.strip() else []
    if data is not None:
        # No text of the input can close the block: JSON allows to write "<" as an escape.
        block = canonical_json(storable(data)).replace("<", "\\u003c")
        parts.append(Text(text=f"<input>\n{block}\n</input>"))
    return tuple(parts)


def _trigger(conversation_id: ConversationId, turn_id: TurnId, parts: tuple[Part, ...]) -> Message:
    return Message(
        id=new_message_id(),
        conversation_id=conversation_id,
        turn_id=turn_id,
        role=Role.USER,
        parts=parts,
    )
