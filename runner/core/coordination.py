"""What turns and conversations send each other, and what people say to turns."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from runner.core.ids import ConversationId, DeliveryId, InputId, MessageId, TurnId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.records import NewTurn, TurnError
from runner.core.states import TurnStatus


class Reach(StrEnum):
    """Which turns a control acts on."""

    RETAIN = "retain"  #: The turn alone; what it launched goes on.
    CASCADE = "cascade"  #: The turn and everything below it.


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """
    A message on its way into a conversation.

    *continuation* is the turn that will answer it: pending, in the destination's conversation, with
    the message as its trigger, acting for the destination's principal. The same key with the same
    source, destination and text is the same delivery.
    """

    id: DeliveryId
    key: str
    #: Whose outbox it is in; None when an application sends.
    source: ConversationId | None
    destination: ConversationId
    text: str
    continuation: NewTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message that was put into a conversation, once."""

    id: DeliveryId
    key: str
    source: ConversationId | None
    destination: ConversationId
    text: str
    message_id: MessageId
    turn_id: TurnId
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Something said to a running turn."""

    id: InputId
    key: str
    turn_id: TurnId
    #: Place among the turn's inputs, from 1.
    position: int
    text: str
    #: The message it became; None while it is queued.
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an awaited turn ended, as the turn that waited for it reads it."""

    turn_id: TurnId
    conversation_id: ConversationId
    agent: str
    status: TurnStatus
    result: str | None = None
    output_data: JsonValue = None
    error: TurnError | None = None

    def as_json(self) -> JsonObject:
        error: JsonObject | None = None
        if self.error is not None:
            error = {"code": self.error.code, "message": self.error.message}
        return {
            "turn_id": self.turn_id,
            "conversation_id": self.conversation_id,
            "status": self.status.value,
            "result": self.result,
            "output_data": self.output_data,
            "error": error,
        }


class ReceiptState(StrEnum):
    """How far a control has got."""

    REQUESTED = "requested"  #: Stored; it takes effect at the turn's next boundary.
    DONE = "done"  #: In effect.
    QUEUED = "queued"  #: An input that is not in the transcript yet.
    INSERTED = "inserted"  #: An input that is.
    UNCHANGED = "unchanged"  #: There was nothing to do: ended, or so already.


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a control on one turn."""

    turn_id: TurnId
    state: ReceiptState
    status: TurnStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts:
    """What became of a control on a turn and, with cascade, on those below it."""

    turns: tuple[Receipt, ...] = field(default_factory=tuple)
    #: Turns that should be looked at soon.
    wake: tuple[TurnId, ...] = field(default_factory=tuple)
