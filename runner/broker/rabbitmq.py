"""Wake-ups through RabbitMQ."""

import logging
from functools import partial
from typing import Final

from dramatiq import Broker, Consumer, Middleware
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from pika.adapters.utils.connection_workflow import AMQPConnectorException
from pika.exceptions import AMQPError
from typing_extensions import override

from runner.broker.steady import Outage, SteadyConsumer

#: Seconds after which whoever only sends gives up: to connect, and on a server that blocks
#: publishers. The URL's query may say otherwise.
_TIME_LIMITS: Final = {
    "socket_timeout": 2,
    "stack_timeout": 2,
    "blocked_connection_timeout": 2,
}


def build(url: str, middleware: list[Middleware], *, consumes: bool) -> Broker:
    """Make the broker; it connects with its first command."""
    # The library reports every failed attempt in several lines, although it raises as well.
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    return _Broker(
        url=url if consumes else _bounded(url),
        middleware=middleware,
    )


class _Broker(RabbitmqBroker):
    """A broker whose consumers outlive their connections."""

    def __init__(self, *, url: str, middleware: list[Middleware]) -> None:
        # Without confirmation a message to a queue that has vanished is lost in silence.
        super().__init__(url=url, middleware=middleware, confirm_delivery=True)
        self._outage = Outage()

    @override
    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        connect = partial(super().consume, queue_name, prefetch, timeout)
        return SteadyConsumer(
            queue_name,
            connect,
            errors=(AMQPError, AMQPConnectorException),
            outage=self._outage,
            timeout=timeout,
        )


def _bounded(url: str) -> str:
    """Add the time limits that *url* does not have."""
    query = url.partition("?")[2]
    missing = [f"{key}={value}" for key, value in _TIME_LIMITS.items() if f"{key}=" not in query]
    return f"{url}{'&' if query else '?'}{'&'.join(missing)}" if missing else url
