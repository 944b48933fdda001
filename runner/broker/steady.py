"""A consumer that outlives the connection it reads from."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from time import sleep
from typing import Final

from dramatiq.broker import Consumer, MessageProxy
from dramatiq.errors import BrokerConnectionError
from typing_extensions import override

from runner.broker.reasons import reason_of

log = logging.getLogger(__name__)

#: Milliseconds until a broker that did not answer is asked again.
_REST: Final = 3000


class Outage:
    """Says once that a broker does not answer and once that it is back, for all its consumers."""

    def __init__(self) -> None:
        self._cut_off = set[str]()
        self._lock = Lock()

    def begin(self, queue: str, error: Exception) -> None:
        """Note that the consumer of *queue* is cut off."""
        with self._lock:
            is_new = not self._cut_off
            self._cut_off.add(queue)
        if is_new:
            log.warning(
                "the broker does not answer; turns are found in the database meanwhile",
                extra={"reason": reason_of(error)},
            )

    def end(self, queue: str) -> None:
        """Note that the consumer of *queue* was answered."""
        with self._lock:
            was_last = self._cut_off == {queue}
            self._cut_off.discard(queue)
        if was_last:
            log.warning("the broker answers again")


class SteadyConsumer(Consumer):
    """
    Connects when it is first asked, and anew after a connection is lost.

    A broker that does not answer looks like one with no messages. What cannot be acknowledged is
    let go: it comes again, and a wake-up that repeats does no harm, while a thread that waits for
    the broker works on no turn.
    """

    def __init__(
        self,
        queue: str,
        connect: Callable[[], Consumer],
        *,
        errors: tuple[type[Exception], ...],
        outage: Outage,
        timeout: int,
        pause: Callable[[float], object] = sleep,
    ) -> None:
        """
        Prepare to consume.

        Args:
            queue: The queue's name.
            connect: Makes the consumer of one connection.
            errors: What the broker's library raises when the server fails.
            outage: Is told of lost and regained connections.
            timeout: Milliseconds that asking takes at most while there is nothing.
            pause: Waits that many seconds.
        """
        self._queue = queue
        self._connect = connect
        self._errors: tuple[type[Exception], ...] = (BrokerConnectionError, OSError, *errors)
        self._outage = outage
        self._timeout = timeout
        self._pause = pause
        self._inner: Consumer | None = None
        #: How often asking is put off yet.
        self._put_off = 0

    @override
    def __next__(self) -> MessageProxy | None:
        if self._put_off:
            self._put_off -= 1
            self._pause(self._timeout / 1000)
            return None
        try:
            if self._inner is None:
                self._inner = self._connect()
            message = next(self._inner)
        except self._errors as error:
            self._outage.begin(self._queue, error)
            self._put_off = max(_REST // self._timeout, 1)
            self.close()
            return None
        self._outage.end(self._queue)
        return message

    @override
    def ack(self, message: MessageProxy) -> None:
        inner = self._inner
        with suppress(*self._errors):
            if inner is not None:
                inner.ack(message)

    @override
    def nack(self, message: MessageProxy) -> None:
        inner = self._inner
        with suppress(*self._errors):
            if inner is not None:
                inner.nack(message)

    @override
    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        inner = self._inner
        with suppress(*self._errors):
            if inner is not None:
                inner.requeue(messages)

    @override
    def close(self) -> None:
        inner, self._inner = self._inner, None
        with suppress(*self._errors):
            if inner is not None:
                inner.close()
