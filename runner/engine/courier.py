"""Messages between conversations, and callbacks: put in once, however often they are tried."""

import logging
from collections.abc import Sequence

from runner.core.coordination import Delivery, NewDelivery, Outcome
from runner.core.errors import LimitReached, NotFound, RunnerError
from runner.core.ids import ConversationId, TurnId, new_delivery_id
from runner.core.jsonvalue import canonical_json
from runner.core.people import Deliveries
from runner.core.records import NewEvent, Turn
from runner.engine.callbacks import CallbackRules
from runner.engine.launch import Launcher
from runner.runtime.blocks import without_tags

log = logging.getLogger(__name__)


class Courier:
    """Delivers texts as messages with a continuation that answers them."""

    def __init__(self, deliveries: Deliveries, launcher: Launcher, rules: CallbackRules) -> None:
        self._deliveries = deliveries
        self._launcher = launcher
        self._rules = rules

    def send(
        self, *, key: str, sender: Turn | None, destination: ConversationId, text: str
    ) -> Delivery:
        """
        Put a message into a conversation, or return what the same key put there before.

        *sender* is the turn that writes; None for a person or an application.

        Raises:
            NotFound: There is no such conversation.
            KeyConflict: The key was used for something else.
            LimitReached: Too many messages of turns led to this one.
        """
        return self._deliveries.deliver(
            self._new(key=key, sender=sender, destination=destination, text=text)
        )

    def settle(self, turn: Turn) -> TurnId | None:
        """
        Tell the conversation that asked of a turn's end, and return the turn that answers it.

        An end that cannot be told, or may not be any more, is recorded; it stays the end it is.
        """
        if turn.callback_to is None:
            return None
        try:
            ruling = self._rules.on(turn)
            if ruling.refusal is not None:
                self._drop(turn, ruling.refusal, decided=ruling.decided)
                return None
            new = self._new(
                key=f"callback:{turn.id}",
                sender=turn,
                destination=turn.callback_to,
                text=_report(turn),
            )
            delivery = self._deliveries.deliver(new, settles=turn.id, decided=ruling.decided)
        except (NotFound, LimitReached) as error:
            self._drop(turn, str(error))
        except RunnerError as error:
            # It is still owed; a sweep tries again.
            log.warning("callback failed", extra={"turn_id": turn.id, "error": str(error)})
        else:
            return delivery.turn_id
        return None

    def _drop(self, turn: Turn, reason: str, *, decided: Sequence[NewEvent] = ()) -> None:
        self._deliveries.drop_callback(turn.id, reason=reason, decided=decided)

    def settle_due(self, limit: int) -> Sequence[TurnId]:
        """Deliver callbacks that are still owed, and return the turns that answer them."""
        turns = [self.settle(turn) for turn in self._deliveries.callbacks_due(limit=limit)]
        return [turn_id for turn_id in turns if turn_id is not None]

    def _new(
        self, *, key: str, sender: Turn | None, destination: ConversationId, text: str
    ) -> NewDelivery:
        source = None if sender is None else sender.conversation_id
        origin = f' from="{source}"' if source else ""
        # Text that writes our own tags stays inside the block.
        inner = without_tags(text, "message")
        message = f"<message{origin}>\n{inner}\n</message>"
        return NewDelivery(
            id=new_delivery_id(),
            key=key,
            source=source,
            destination=destination,
            text=text,
            continuation=self._launcher.continuation(destination, message, hops=_hops(sender)),
        )


def _hops(sender: Turn | None) -> int:
    """Count the way of a message of *sender*."""
    if sender is None:
        return 0
    hops, most = sender.place.hops + 1, sender.place.limits.max_hops
    if hops > most:
        raise LimitReached(path="limits.max_hops", limit=most)
    return hops


def _report(turn: Turn) -> str:
    outcome = Outcome(
        turn_id=turn.id,
        conversation_id=turn.conversation_id,
        agent=turn.agent,
        status=turn.status,
        result=turn.result,
        output_data=turn.output_data,
        error=turn.error,
    )
    return f"The agent {turn.agent} has ended its task:\n{canonical_json(outcome.as_json())}"
