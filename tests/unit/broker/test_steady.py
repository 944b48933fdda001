import logging
from collections.abc import Iterable

import pytest
from dramatiq import Message, MessageProxy
from dramatiq.broker import Consumer
from typing_extensions import override

from runner.broker.steady import Outage, SteadyConsumer

MESSAGE = MessageProxy(Message(queue_name="main", actor_name="act", args=(), kwargs={}, options={}))
DOWN = "the broker does not answer; turns are found in the database meanwhile"
UP = "the broker answers again"


class FakeServer:
    """A server with one queue, which can be down."""

    def __init__(self) -> None:
        self.is_down = False
        self.waiting: list[MessageProxy] = []
        self.acknowledged: list[MessageProxy] = []
        self.asked = 0
        self.connections = 0

    def connect(self) -> Consumer:
        self.ask()
        self.connections += 1
        return FakeConsumer(self)

    def ask(self) -> None:
        self.asked += 1
        if self.is_down:
            raise ConnectionRefusedError(111, "Connection refused")


class FakeConsumer(Consumer):
    """One connection to the server."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    @override
    def __next__(self) -> MessageProxy | None:
        self._server.ask()
        return self._server.waiting.pop() if self._server.waiting else None

    @override
    def ack(self, message: MessageProxy) -> None:
        self._server.ask()
        self._server.acknowledged.append(message)

    @override
    def nack(self, message: MessageProxy) -> None:
        self._server.ask()

    @override
    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        self._server.ask()
        self._server.waiting.extend(messages)

    @override
    def close(self) -> None:
        self._server.ask()


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def pauses() -> list[float]:
    return []


def consumer_of(
    server: FakeServer, pauses: list[float], *, queue: str = "main", outage: Outage | None = None
) -> SteadyConsumer:
    return SteadyConsumer(
        queue,
        server.connect,
        errors=(),
        outage=outage or Outage(),
        timeout=1000,
        pause=pauses.append,
    )


@pytest.fixture
def consumer(server: FakeServer, pauses: list[float]) -> SteadyConsumer:
    return consumer_of(server, pauses)


def test_messages_are_passed_on(server: FakeServer, consumer: SteadyConsumer) -> None:
    server.waiting = [MESSAGE]

    taken = [next(consumer), next(consumer)]
    consumer.ack(MESSAGE)

    assert taken == [MESSAGE, None]
    assert server.acknowledged == [MESSAGE]
    assert server.connections == 1


def test_an_outage_is_one_line_and_its_end_another(
    server: FakeServer, consumer: SteadyConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    next(consumer)
    server.is_down = True
    down = [next(consumer) for _ in range(12)]
    server.is_down = False
    server.waiting = [MESSAGE]
    up = [next(consumer) for _ in range(5)]

    assert set(down) == {None}
    assert MESSAGE in up
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.WARNING, DOWN),
        (logging.WARNING, UP),
    ]
    assert vars(caplog.records[0])["reason"] == "connection refused; is it running?"


def test_a_broker_that_does_not_answer_is_asked_again_after_a_rest(
    server: FakeServer, consumer: SteadyConsumer, pauses: list[float]
) -> None:
    server.is_down = True

    taken = [next(consumer) for _ in range(5)]

    assert set(taken) == {None}
    assert server.asked == 2
    assert pauses == [1.0, 1.0, 1.0]


def test_the_consumers_of_a_broker_report_its_outage_together(
    server: FakeServer, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    outage = Outage()
    one = consumer_of(server, pauses, queue="one", outage=outage)
    two = consumer_of(server, pauses, queue="two", outage=outage)
    server.is_down = True
    next(one)
    next(two)
    server.is_down = False

    for _ in range(4):
        next(one)
    said_of_one = list(caplog.messages)
    for _ in range(4):
        next(two)

    assert said_of_one == [DOWN]
    assert caplog.messages == [DOWN, UP]


def test_what_cannot_be_acknowledged_is_let_go(
    server: FakeServer, consumer: SteadyConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    next(consumer)
    server.is_down = True

    consumer.ack(MESSAGE)
    consumer.nack(MESSAGE)
    consumer.requeue([MESSAGE])
    consumer.close()
    consumer.ack(MESSAGE)
    consumer.nack(MESSAGE)
    consumer.requeue([MESSAGE])

    assert server.asked == 6
    assert server.acknowledged == []
    assert caplog.messages == []


def test_an_error_that_is_not_the_servers_is_not_hidden(pauses: list[float]) -> None:
    def connect() -> Consumer:
        raise ValueError

    consumer = SteadyConsumer(
        "main", connect, errors=(), outage=Outage(), timeout=1000, pause=pauses.append
    )

    with pytest.raises(ValueError):  # noqa: PT011 - which one is the point
        next(consumer)
