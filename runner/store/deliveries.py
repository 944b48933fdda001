"""How messages get into conversations, once each."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update

from runner.core.coordination import Delivery, NewDelivery
from runner.core.errors import ConflictError, KeyConflict, UsageError
from runner.core.ids import ConversationId, DeliveryId, TurnId
from runner.core.jsonvalue import storable_text
from runner.core.records import NewEvent, Turn
from runner.store.clock import db_now
from runner.store.codec import event_columns
from runner.store.database import Database
from runner.store.newcomers import Newcomers
from runner.store.rows import delivery_from, turn_from
from runner.store.statements import insert_events, insert_messages
from runner.store.tables import DeliveryRow, TurnRow
from runner.store.waits import insert_edges, join

_INSERT: Final = insert(DeliveryRow).values(created_at=db_now()).returning(DeliveryRow)
_SELECT_BY_KEY: Final = select(DeliveryRow).where(DeliveryRow.key == bindparam("by_key"))
_SETTLE: Final = (
    update(TurnRow)
    .where(TurnRow.id == bindparam("settled"), TurnRow.callback_due.is_not(None))
    .values(callback_due=None)
    .returning(TurnRow.id)
)
_SELECT_OWED: Final = (
    select(TurnRow)
    .where(TurnRow.callback_due.is_not(None))
    .order_by(TurnRow.callback_due)
    .limit(bindparam("most"))
)
_BY_AGE: Final = select(DeliveryRow).order_by(DeliveryRow.created_at, DeliveryRow.id)
_SELECT_INBOX: Final = _BY_AGE.where(DeliveryRow.destination == bindparam("conversation"))
_SELECT_OUTBOX: Final = _BY_AGE.where(DeliveryRow.source == bindparam("conversation"))


class SqlDeliveries:
    """The deliveries over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def deliver(
        self,
        new: NewDelivery,
        *,
        settles: TurnId | None = None,
        decided: Sequence[NewEvent] = (),
    ) -> Delivery:
        """
        Put a message and its continuation into a conversation, or return what the key gave before.

        However many deliver at the same time, one takes the key; the others find it taken, and
        what they were about to store is rolled back.
        """
        delivering = _Delivering(new, settles, decided)
        found = self._find(delivering.key)
        if found is None:
            delivery = self._database.write(delivering, on_conflict=lambda: None)
            if delivery is not None:
                return delivery
            found = self._find(delivering.key)
        if found is None:
            raise ConflictError(f"delivery {new.id!r} does not fit what is already stored")
        if (found.source, found.destination, found.text) != delivering.payload:
            raise KeyConflict(f"the key {new.key!r} was used before for something else")
        if settles is not None:
            self._settle(settles, [*decided, _sent(found.id)])
        return found

    def callbacks_due(self, *, limit: int) -> Sequence[Turn]:
        """Return ended turns whose callback has not been delivered."""
        return [turn_from(row) for row in self._database.rows(_SELECT_OWED, {"most": limit})]

    def drop_callback(
        self, turn_id: TurnId, *, reason: str, decided: Sequence[NewEvent] = ()
    ) -> None:
        """Owe no callback for a turn any more, and record why; of two that do, one records it."""
        dropped = NewEvent(kind="delivery.dropped", body={"reason": reason})
        self._settle(turn_id, [*decided, dropped])

    def inbox(self, conversation_id: ConversationId) -> Sequence[Delivery]:
        """Return what was delivered to a conversation, oldest first."""
        rows = self._database.rows(_SELECT_INBOX, {"conversation": conversation_id})
        return [delivery_from(row) for row in rows]

    def outbox(self, conversation_id: ConversationId) -> Sequence[Delivery]:
        """Return what was sent from a conversation, oldest first."""
        rows = self._database.rows(_SELECT_OUTBOX, {"conversation": conversation_id})
        return [delivery_from(row) for row in rows]

    def _find(self, key: str) -> Delivery | None:
        rows = self._database.rows(_SELECT_BY_KEY, {"by_key": key})
        return next((delivery_from(row) for row in rows), None)

    def _settle(self, turn_id: TurnId, events: Sequence[NewEvent]) -> None:
        self._database.write(lambda connection: _settle(connection, turn_id, events))


class _Delivering:
    """The transaction that stores a message, the turn that will answer it, and the delivery."""

    def __init__(
        self, new: NewDelivery, settles: TurnId | None, decided: Sequence[NewEvent]
    ) -> None:
        continuation = new.continuation
        if continuation.conversation_id != new.destination:
            raise UsageError("the turn that answers a delivery belongs into its destination")
        self.key = storable_text(new.key)
        #: What the key stands for.
        self.payload = (new.source, new.destination, storable_text(new.text))
        self._newcomers = Newcomers([continuation])
        self._columns = {
            "id": new.id,
            "key": self.key,
            "source": new.source,
            "destination": new.destination,
            "text": storable_text(new.text),
            "message_id": continuation.trigger.id,
            "turn_id": continuation.id,
        }
        body = {"delivery_id": new.id, "source": new.source}
        self._received = event_columns(
            continuation.id, NewEvent(kind="delivery.received", body=body)
        )
        self._settles = settles
        self._told = [*decided, _sent(new.id)]

    def __call__(self, connection: Connection) -> Delivery:
        newcomers = self._newcomers
        lanes = newcomers.take_lanes(connection)
        edges = join(connection, newcomers.edges)
        rows = newcomers.insert(connection, lanes, edges)
        insert_messages(connection, newcomers.triggers)
        insert_edges(connection, edges)
        stored = connection.execute(_INSERT, self._columns).mappings().one()
        insert_events(connection, [*newcomers.events(rows), self._received])
        if self._settles is not None:
            _settle(connection, self._settles, self._told)
        return delivery_from(stored)


def _settle(connection: Connection, turn_id: TurnId, events: Sequence[NewEvent]) -> None:
    if connection.execute(_SETTLE, {"settled": turn_id}).one_or_none() is not None:
        insert_events(connection, [event_columns(turn_id, event) for event in events])


def _sent(delivery_id: DeliveryId) -> NewEvent:
    """Return the event that tells the turn whose callback it was."""
    return NewEvent(kind="delivery.sent", body={"delivery_id": delivery_id})
