import pytest

from runner.broker.factory import open_broker, open_dispatcher
from runner.broker.rabbitmq import _bounded
from runner.core.errors import ConfigError
from runner.core.ids import TurnId


def test_without_a_broker_there_is_nothing_to_send() -> None:
    dispatcher = open_dispatcher("memory://", queue="runner")

    dispatcher.dispatch([TurnId("turn_1")])

    dispatcher.close()


@pytest.mark.parametrize(
    "url", ["redis://:hunter2@127.0.0.1:port", "amqp://user:hunter2@127.0.0.1:port"]
)
def test_a_url_that_cannot_be_read_is_an_error_that_keeps_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as error:
        open_dispatcher(url, queue="runner")

    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("url", ["memory://", "redis://127.0.0.1", "amqp://127.0.0.1"])
def test_a_broker_has_no_middleware_but_ours(url: str) -> None:
    broker = open_broker(url, [])

    assert broker.middleware == []
    broker.close()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(
            "amqp://host",
            "amqp://host?socket_timeout=2&stack_timeout=2&blocked_connection_timeout=2",
            id="all-of-them",
        ),
        pytest.param(
            "amqp://host/v?stack_timeout=9&heartbeat=5",
            "amqp://host/v?stack_timeout=9&heartbeat=5&socket_timeout=2&blocked_connection_timeout=2",
            id="those-that-are-missing",
        ),
        pytest.param(
            "amqp://host?socket_timeout=1&stack_timeout=1&blocked_connection_timeout=1",
            "amqp://host?socket_timeout=1&stack_timeout=1&blocked_connection_timeout=1",
            id="none-where-all-are-there",
        ),
    ],
)
def test_a_sender_to_rabbitmq_gives_up_soon_unless_its_url_says_otherwise(
    url: str, expected: str
) -> None:
    assert _bounded(url) == expected
