"""How turns begin: prepared, submitted to workers, or run here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from runner.core.contributing import Subject
from runner.core.errors import UsageError
from runner.core.ids import (
    ConversationId,
    TurnId,
    WorkerId,
    new_conversation_id,
    new_message_id,
    new_turn_id,
)
from runner.core.jsonvalue import JsonObject, JsonValue, storable
from runner.core.messages import Message, Part, Role
from runner.core.ports import Intake
from runner.core.records import NewTurn, Shared, Turn, TurnKind
from runner.core.states import TurnStatus
from runner.core.tree import Place
from runner.definitions.json_schema import Validator
from runner.engine.launch import task_parts
from runner.runtime.agent import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a turn is asked for."""

    agent: Agent
    kind: TurnKind
    text: str
    #: Structured input of a task, checked against the agent's input_schema.
    input: JsonValue = None
    #: The conversation to continue; None starts one.
    conversation_id: ConversationId | None = None
    #: Turns that have to end first; their results are part of what the turn is told.
    awaits: Sequence[TurnId] = ()
    #: The conversation that is told of the end.
    callback_to: ConversationId | None = None
    principal: JsonObject | None = None
    #: For contributors and tools, added to what the conversation has.
    context: JsonObject = field(default_factory=dict)
    #: What the turn is about; the conversation's where it is not said.
    subject: Subject | None = None
    #: What its conversation gives to every turn: one that is there already, or the one it starts.
    shared: Shared = field(default_factory=Shared)
    metadata: JsonObject = field(default_factory=dict)

    @property
    def whole_context(self) -> JsonObject:
        """What contributors and tools get: the conversation's context, and on top the turn's."""
        return _object({**self.shared.context, **self.context})


class Reception:
    """Checks orders and stores them as turns."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    def prepare(self, order: Order) -> Turn:
        """Store a turn that nothing runs until it is submitted."""
        return self._add(new_turn(order, TurnStatus.PREPARED), order.agent)

    def submit(self, order: Order) -> Turn:
        """Store a turn for any worker; it is safe once this returns."""
        return self._add(new_turn(order, TurnStatus.PENDING), order.agent)

    def start(self, order: Order, worker_id: WorkerId, *, lease: timedelta) -> Turn:
        """
        Store a turn as running for *worker_id*.

        Raises:
            ConversationBusy: An earlier turn of the conversation has not ended.
        """
        new = replace(new_turn(order, TurnStatus.RUNNING), worker_id=worker_id, lease=lease)
        return self._add(new, order.agent)

    def submit_prepared(self, turn_id: TurnId, agent: Agent) -> Turn:
        return self._intake.submit(turn_id, timeout=agent.definition.limits.timeout)

    def _add(self, new: NewTurn, agent: Agent) -> Turn:
        self._intake.save_definition(
            content_hash=agent.content_hash,
            kind="agent",
            name=agent.name,
            body=agent.definition.canonical(),
        )
        return self._intake.add(new)


def new_turn(order: Order, status: TurnStatus) -> NewTurn:
    """
    Check what was ordered and make a turn of it.

    Raises:
        UsageError: There is nothing to do, or the input is not what the agent takes.
    """
    conversation_id = order.conversation_id or new_conversation_id()
    turn_id = new_turn_id()
    shared = replace(order.shared, context=_object(order.shared.context))
    return NewTurn(
        id=turn_id,
        conversation_id=conversation_id,
        starts_conversation=order.conversation_id is None,
        agent=order.agent.name,
        definition_hash=order.agent.content_hash,
        kind=order.kind,
        status=status,
        trigger=Message(
            id=new_message_id(),
            conversation_id=conversation_id,
            turn_id=turn_id,
            role=Role.USER,
            parts=_trigger_parts(order),
        ),
        timeout=order.agent.definition.limits.timeout,
        place=Place(root_id=turn_id, limits=order.agent.tree_limits),
        awaits=order.awaits,
        callback_to=order.callback_to,
        principal=order.principal and _object(order.principal),
        context=order.whole_context,
        subject=order.subject or shared.subject,
        shared=shared,
        metadata=_object(order.metadata),
    )


def _trigger_parts(order: Order) -> tuple[Part, ...]:
    """
    Check what was ordered and write it as one message.

    Raises:
        UsageError: There is nothing to do, or the input is not what the agent takes.
    """
    if not order.text.strip() and order.input is None:
        raise UsageError("the task is empty; say what the agent shall do")
    _check_input(order)
    return task_parts(order.text, order.input)


def _check_input(order: Order) -> None:
    schema = order.agent.definition.input_schema
    if schema is None:
        if order.input is not None:
            raise UsageError(f"agent {order.agent.name!r} has no input_schema and takes no input")
        return
    is_message = order.kind is TurnKind.CHAT or order.conversation_id is not None
    if is_message and order.input is None:
        return
    complaints = Validator(schema).complaints(order.input)
    if complaints and order.input is None:
        raise UsageError(
            f"agent {order.agent.name!r} needs an input that fits its input_schema; "
            "a command takes it with --input"
        )
    if complaints:
        raise UsageError(f"the input does not match input_schema: {'; '.join(complaints)}")


def _object(value: Mapping[str, JsonValue]) -> JsonObject:
    return {str(key): storable(item) for key, item in value.items()}
