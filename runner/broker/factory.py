"""Opens the configured broker, loading its kind when it is first asked for."""

from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, cast

from dramatiq import Broker, Middleware

from runner.broker.dispatcher import BrokerDispatcher, SilentDispatcher
from runner.core.errors import ConfigError
from runner.core.ports import Dispatcher
from runner.definitions.secret import SecretUrl

#: Each scheme's module, which has a function `build` as `_Kind` describes it.
_KINDS: Final = MappingProxyType(
    {
        "memory": "runner.broker.memory",
        "redis": "runner.broker.redis",
        "rediss": "runner.broker.redis",
        "amqp": "runner.broker.rabbitmq",
        "amqps": "runner.broker.rabbitmq",
    }
)
#: The extra that brings what each kind needs.
_EXTRAS: Final = MappingProxyType(
    {"redis": "redis", "rediss": "redis", "amqp": "rabbitmq", "amqps": "rabbitmq"}
)


class _Kind(Protocol):
    def build(self, url: str, middleware: list[Middleware], *, consumes: bool) -> Broker: ...


def open_dispatcher(url: str, *, queue: str) -> Dispatcher:
    """
    Make what sends wake-ups to the workers of *queue*; it connects when it first has one to send.

    With `memory://` there is nothing to send: each worker finds turns in the database by itself.

    Raises:
        ConfigError: The broker cannot be used as configured.
    """
    if is_in_process(url):
        return SilentDispatcher()
    broker = _build(url, [], consumes=False)
    return BrokerDispatcher(broker, queue, address=SecretUrl.mask(url))


def open_broker(url: str, middleware: list[Middleware]) -> Broker:
    """
    Make the broker that a worker consumes from, with *middleware* and none besides.

    Raises:
        ConfigError: The broker cannot be used as configured.
    """
    return _build(url, middleware, consumes=True)


def is_in_process(url: str) -> bool:
    """Say whether wake-ups cannot leave the process."""
    return url.partition("://")[0] == "memory"


def _build(url: str, middleware: list[Middleware], *, consumes: bool) -> Broker:
    scheme = url.partition("://")[0]
    try:
        kind = cast("_Kind", import_module(_KINDS[scheme]))
        return kind.build(url, middleware, consumes=consumes)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"broker.url needs the package {error.name!r}; "
            f"install it with: pip install 'agent-runner[{_EXTRAS[scheme]}]'"
        ) from error
    except ValueError as error:
        raise ConfigError(f"broker.url {SecretUrl.mask(url)!r} cannot be read") from error
