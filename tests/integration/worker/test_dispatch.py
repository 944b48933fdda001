"""Wake-ups through real brokers."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from dramatiq import Broker, Message

from runner.broker.factory import open_broker, open_dispatcher
from runner.core.errors import DispatchFailed
from runner.core.ids import TurnId
from tests.brokers import remove_queue


@pytest.fixture(params=["redis", "rabbitmq"])
def broker_url(request: pytest.FixtureRequest, queue_name: str) -> Iterator[str]:
    url: str = request.getfixturevalue(f"{request.param}_url")
    yield url
    remove_queue(url, queue_name)


@pytest.fixture
def broker(broker_url: str, queue_name: str) -> Iterator[Broker]:
    """The broker as a worker has it."""
    broker = open_broker(broker_url, [])
    broker.declare_queue(queue_name)
    yield broker
    broker.close()


@pytest.fixture(params=["redis", "amqp"])
def silent_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"{request.param}://user:hunter2@127.0.0.1:{server.getsockname()[1]}"


def received(broker: Broker, queue: str, count: int) -> list[Message[None]]:
    """Take *count* messages from the queue, and acknowledge them."""
    consumer = broker.consume(queue, prefetch=count, timeout=100)
    messages: list[Message[None]] = []
    while len(messages) < count:
        proxy = next(consumer)
        if proxy is not None:
            messages.append(proxy._message)
            consumer.ack(proxy)
    consumer.close()
    return messages


def test_a_wake_up_names_the_turn_and_nothing_else(
    broker: Broker, broker_url: str, queue_name: str
) -> None:
    dispatcher = open_dispatcher(broker_url, queue=queue_name)

    dispatcher.dispatch([TurnId("turn_1"), TurnId("turn_2")])
    dispatcher.close()

    messages = received(broker, queue_name, 2)
    assert [(message.actor_name, message.args) for message in messages] == [
        ("run_turn", ("turn_1",)),
        ("run_turn", ("turn_2",)),
    ]
    assert [message.kwargs for message in messages] == [{}, {}]


def test_many_threads_dispatch_at_once(broker: Broker, broker_url: str, queue_name: str) -> None:
    dispatcher = open_dispatcher(broker_url, queue=queue_name)
    turns = [TurnId(f"turn_{number}") for number in range(40)]

    with ThreadPoolExecutor(max_workers=8) as threads:
        list(threads.map(lambda turn: dispatcher.dispatch([turn]), turns))
    dispatcher.close()

    assert {message.args[0] for message in received(broker, queue_name, 40)} == set(turns)


def test_a_wake_up_arrives_although_the_queue_vanished_since_the_last(
    broker: Broker, broker_url: str, queue_name: str
) -> None:
    dispatcher = open_dispatcher(broker_url, queue=queue_name)
    dispatcher.dispatch([TurnId("turn_1")])
    remove_queue(broker_url, queue_name)

    dispatcher.dispatch([TurnId("turn_2")])
    dispatcher.close()

    assert [message.args for message in received(broker, queue_name, 1)] == [("turn_2",)]


def test_dispatching_nothing_connects_nowhere(silent_url: str, queue_name: str) -> None:
    dispatcher = open_dispatcher(silent_url, queue=queue_name)

    dispatcher.dispatch([])

    dispatcher.close()


def test_a_broker_that_never_answers_is_given_up(silent_url: str, queue_name: str) -> None:
    dispatcher = open_dispatcher(silent_url, queue=queue_name)

    with pytest.raises(DispatchFailed) as error:
        dispatcher.dispatch([TurnId("turn_1")])

    dispatcher.close()
    assert "it does not answer; is it running?" in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_whose_host_is_not_known_is_an_error_that_says_so(
    scheme: str, queue_name: str
) -> None:
    dispatcher = open_dispatcher(f"{scheme}://nowhere.invalid", queue=queue_name)

    with pytest.raises(DispatchFailed, match="its host name is not known"):
        dispatcher.dispatch([TurnId("turn_1")])

    dispatcher.close()


def test_a_broker_that_refuses_the_password_is_an_error_that_does_not_show_it(
    broker_url: str, queue_name: str
) -> None:
    address = broker_url.rpartition("@")[2].rpartition("://")[2]
    scheme = broker_url.partition("://")[0]
    dispatcher = open_dispatcher(f"{scheme}://nobody:hunter2@{address}", queue=queue_name)

    with pytest.raises(DispatchFailed, match="does not accept the user and the password") as error:
        dispatcher.dispatch([TurnId("turn_1")])

    dispatcher.close()
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_down_is_an_error_that_says_where(scheme: str, queue_name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    dispatcher = open_dispatcher(f"{scheme}://user:hunter2@127.0.0.1:{port}", queue=queue_name)

    with pytest.raises(DispatchFailed) as error:
        dispatcher.dispatch([TurnId("turn_1")])

    dispatcher.close()
    assert str(error.value) == (
        f"cannot reach the broker at {scheme}://user:***@127.0.0.1:{port}: "
        "connection refused; is it running?"
    )


def test_a_closed_dispatcher_says_so(broker_url: str, queue_name: str) -> None:
    dispatcher = open_dispatcher(broker_url, queue=queue_name)
    dispatcher.close()

    with pytest.raises(DispatchFailed, match="closed"):
        dispatcher.dispatch([TurnId("turn_1")])
