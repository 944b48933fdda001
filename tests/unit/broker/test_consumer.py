"""A consumer whose broker has gone away."""

from collections.abc import Callable, Iterable

import pytest
from dramatiq import Consumer, Message, MessageProxy
from dramatiq.errors import BrokerConnectionError
from typing_extensions import override

from runner.broker.consumer import UnhurtConsumer

WAKE_UP = MessageProxy(Message("runner", "run_turn", ("turn_1",), {}, {}))


class FakeConsumer(Consumer):
    """Has one message, and writes down what it is asked."""

    def __init__(self, *, is_connected: bool) -> None:
        self.asked = list[str]()
        self._is_connected = is_connected

    @override
    def ack(self, message: MessageProxy) -> None:
        self._ask("ack")

    @override
    def nack(self, message: MessageProxy) -> None:
        self._ask("nack")

    @override
    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        self._ask("requeue")

    @override
    def __next__(self) -> MessageProxy | None:
        self._ask("next")
        return WAKE_UP

    @override
    def close(self) -> None:
        self._ask("close")

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if not self._is_connected:
            raise BrokerConnectionError("it is down")  # type: ignore[no-untyped-call]  # no types


@pytest.mark.parametrize("settle", [UnhurtConsumer.ack, UnhurtConsumer.nack])
def test_a_message_that_cannot_be_acknowledged_is_left_to_come_again(
    settle: Callable[[UnhurtConsumer, MessageProxy], None],
) -> None:
    lost = FakeConsumer(is_connected=False)

    settle(UnhurtConsumer(lost), WAKE_UP)

    assert len(lost.asked) == 1


def test_a_lost_connection_is_told_to_whoever_asks_for_messages() -> None:
    consumer = UnhurtConsumer(FakeConsumer(is_connected=False))

    with pytest.raises(BrokerConnectionError):
        next(consumer)


def test_everything_else_is_passed_on() -> None:
    inner = FakeConsumer(is_connected=True)
    consumer = UnhurtConsumer(inner)

    received = next(consumer)
    consumer.ack(WAKE_UP)
    consumer.requeue([WAKE_UP])
    consumer.close()

    assert received is WAKE_UP
    assert inner.asked == ["next", "ack", "requeue", "close"]
