"""Wake-ups through RabbitMQ."""

import logging
from typing import Final

from dramatiq import Broker, Consumer, Middleware
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from typing_extensions import override

from runner.broker.consumer import UnhurtConsumer

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
        # Without it a message to a queue that has vanished is lost in silence.
        confirm_delivery=True,
    )


class _Broker(RabbitmqBroker):
    @override
    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        return UnhurtConsumer(super().consume(queue_name, prefetch, timeout))


def _bounded(url: str) -> str:
    """Add the time limits that *url* does not have."""
    query = url.partition("?")[2]
    missing = [f"{key}={value}" for key, value in _TIME_LIMITS.items() if f"{key}=" not in query]
    return f"{url}{'&' if query else '?'}{'&'.join(missing)}" if missing else url
