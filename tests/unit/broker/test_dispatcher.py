from threading import Event

import pytest
from dramatiq import Message
from dramatiq.brokers.stub import StubBroker
from typing_extensions import override

from runner.broker.dispatcher import BrokerDispatcher
from runner.core.errors import DispatchFailed
from runner.core.ids import TurnId


class StuckBroker(StubBroker):
    """Takes a message only once it is let go."""

    def __init__(self) -> None:
        super().__init__(middleware=[])
        self.let_go = Event()
        self.closed = False

    @override
    def enqueue(self, message: Message[None], *, delay: int | None = None) -> Message[None]:
        self.let_go.wait(30)
        return message

    @override
    def close(self) -> None:
        self.closed = True


def test_nobody_waits_longer_than_the_time_limit_for_a_broker_that_is_stuck() -> None:
    broker = StuckBroker()
    dispatcher = BrokerDispatcher(broker, "runner", address="stuck://", patience=0.05)

    with pytest.raises(DispatchFailed, match=r"stuck://: it did not answer within 0\.05 seconds"):
        dispatcher.dispatch([TurnId("turn_1")])

    broker.let_go.set()
    dispatcher.close()
    assert broker.closed
