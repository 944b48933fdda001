"""What a worker receives wake-ups through, whatever becomes of the broker meanwhile."""

import logging
from collections.abc import Callable, Iterable

from dramatiq import Consumer, MessageProxy
from dramatiq.errors import BrokerConnectionError
from typing_extensions import override

log = logging.getLogger(__name__)


class UnhurtConsumer(Consumer):
    """
    Another consumer, of which an acknowledgement that cannot be sent is given up.

    Dramatiq would repeat it until the broker is back, and keep a thread from working that long. A
    wake-up that comes a second time does no harm, so nothing is lost but the message's removal.
    """

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    @override
    def ack(self, message: MessageProxy) -> None:
        self._attempt(self._consumer.ack, message)

    @override
    def nack(self, message: MessageProxy) -> None:
        self._attempt(self._consumer.nack, message)

    @override
    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        self._consumer.requeue(messages)

    @override
    def __next__(self) -> MessageProxy | None:
        return next(self._consumer)

    @override
    def close(self) -> None:
        self._consumer.close()

    def _attempt(self, send: Callable[[MessageProxy], None], message: MessageProxy) -> None:
        try:
            send(message)
        except BrokerConnectionError as error:
            fields = {"message_id": message.message_id, "error": str(error)}
            log.warning("a wake-up could not be acknowledged", extra=fields)
