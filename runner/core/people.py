"""The seams by which people take hold of turns, answer them, and write to conversations."""

from collections.abc import Sequence
from typing import Protocol

from runner.core.approvals import Answer, Answered
from runner.core.coordination import Delivery, Input, NewDelivery, Reach, Receipts
from runner.core.ids import ApprovalId, ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.records import NewEvent, Turn


class Controls(Protocol):
    """
    How people take hold of turns. Each is one transaction, idempotent, and right at any moment.

    A turn below another is locked before it, as everywhere.
    """

    def cancel(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Cancel a turn, and with cascade everything below it.

        What has not started is cancelled at once. What has started is marked, loses its claim, and
        becomes pending, so that whoever claims it next closes its open calls and ends it; those
        turns are to be woken.

        Raises:
            NotFound: There is no such turn.
        """
        ...

    def pause(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Pause a turn: a running one at its next boundary, any other at once.

        Raises:
            NotFound: There is no such turn.
        """
        ...

    def resume(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Let paused and stale turns go on from where they were, and take back what was requested.

        Raises:
            NotFound: There is no such turn.
        """
        ...

    def steer(self, turn_id: TurnId, *, key: str, text: str) -> Input:
        """
        Queue an input for a turn that has not ended; the same key and text is the same input.

        Raises:
            NotFound: There is no such turn.
            InvalidMove: It has ended.
            KeyConflict: The key was used for another text.
        """
        ...


class Approvals(Protocol):
    """How people answer what a turn asks."""

    def answer(
        self,
        approval_id: ApprovalId,
        answer: Answer,
        *,
        principal: JsonObject | None,
        reason: str | None,
    ) -> Answered:
        """
        Answer an approval, once; a turn that waits is pending in the same transaction.

        Raises:
            NotFound: There is no such approval.
            ApprovalAnswered: It was answered before, or its time is over.
        """
        ...


class Deliveries(Protocol):
    """How messages get into conversations, once each."""

    def deliver(
        self,
        new: NewDelivery,
        *,
        settles: TurnId | None = None,
        decided: Sequence[NewEvent] = (),
    ) -> Delivery:
        """
        Put a message and its continuation into a conversation, or return what the key gave before.

        Args:
            new: The delivery.
            settles: The ended turn whose callback this is; no more is owed for it afterwards.
            decided: What policies said to it, to be stored with that turn.

        Raises:
            NotFound: The destination does not exist.
            KeyConflict: The key was used for another source, destination or text.
        """
        ...

    def callbacks_due(self, *, limit: int) -> Sequence[Turn]:
        """Return ended turns whose callback has not been delivered."""
        ...

    def drop_callback(
        self, turn_id: TurnId, *, reason: str, decided: Sequence[NewEvent] = ()
    ) -> None:
        """Owe no callback for a turn any more, and record why."""
        ...

    def inbox(self, conversation_id: ConversationId) -> Sequence[Delivery]:
        """Return what was delivered to a conversation, oldest first."""
        ...

    def outbox(self, conversation_id: ConversationId) -> Sequence[Delivery]:
        """Return what was sent from a conversation, oldest first."""
        ...
