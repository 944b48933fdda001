"""Wake-ups through Redis."""

from functools import partial
from typing import Final

from dramatiq import Broker, Consumer, Middleware
from dramatiq.brokers.redis import RedisBroker
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from typing_extensions import override

from runner.broker.steady import Outage, SteadyConsumer

#: Seconds to wait for a connection or an answer; the URL's query may say otherwise.
_TIME_LIMIT: Final = 10.0
#: The same for whoever only sends, while somebody waits.
_TIME_LIMIT_OF_SENDER: Final = 2.0
#: How many of a million commands look for messages that a dead worker had fetched. The database
#: recovers their turns long before; this only tidies up.
_MAINTENANCE: Final = 20_000


def build(url: str, middleware: list[Middleware], *, consumes: bool) -> Broker:
    """Make the broker; it connects with its first command."""
    limit = _TIME_LIMIT if consumes else _TIME_LIMIT_OF_SENDER
    client = Redis.from_url(
        url,
        socket_connect_timeout=limit,
        socket_timeout=limit,
        # A connection that went stale while idle is worth one more try.
        retry=Retry(NoBackoff(), 1),
    )
    return _Broker(
        client=client,
        middleware=middleware,
        maintenance_chance=_MAINTENANCE if consumes else 0,
    )


class _Broker(RedisBroker):
    """A broker whose consumers outlive their connections."""

    def __init__(
        self, *, client: Redis, middleware: list[Middleware], maintenance_chance: int
    ) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # its signature has no types
            client=client, middleware=middleware, maintenance_chance=maintenance_chance
        )
        self._outage = Outage()

    @override
    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        connect = partial(super().consume, queue_name, prefetch, timeout)
        return SteadyConsumer(
            queue_name, connect, errors=(RedisError,), outage=self._outage, timeout=timeout
        )
