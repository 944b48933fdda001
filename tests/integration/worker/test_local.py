"""Wake-ups that a process gives itself, taken by real worker threads."""

from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from dramatiq import Worker, actor
from dramatiq.brokers.stub import StubBroker

from runner.broker.local import LocalDispatcher
from runner.core.ids import TurnId

ONE, TWO = TurnId("turn_1"), TurnId("turn_2")


@pytest.fixture(params=["its-own", "another"])
def local(request: pytest.FixtureRequest) -> Iterator[tuple[LocalDispatcher, SimpleQueue[TurnId]]]:
    """The dispatcher of a process whose broker is its own or another, and what its threads took."""
    taken = SimpleQueue[TurnId]()
    broker = StubBroker(middleware=[])
    inner = broker if request.param == "its-own" else StubBroker(middleware=[])
    dispatcher = LocalDispatcher(inner, "local")

    @actor(broker=broker, queue_name="main")
    def run_turn(turn_id: TurnId) -> None:
        dispatcher.take(turn_id)
        taken.put(turn_id)

    worker = Worker(broker, worker_threads=2, worker_timeout=50)
    dispatcher.attach(worker)
    worker.start()
    yield dispatcher, taken
    worker.stop()
    broker.close()


def test_threads_take_what_the_process_dispatched_to_itself(
    local: tuple[LocalDispatcher, SimpleQueue[TurnId]],
) -> None:
    dispatcher, taken = local

    dispatcher.dispatch([ONE, TWO])

    assert {taken.get(timeout=30), taken.get(timeout=30)} == {ONE, TWO}
    assert dispatcher.waiting == 0
    dispatcher.close()


def test_a_turn_can_be_dispatched_again_once_a_thread_has_taken_it(
    local: tuple[LocalDispatcher, SimpleQueue[TurnId]],
) -> None:
    dispatcher, taken = local

    dispatcher.dispatch([ONE])
    first = taken.get(timeout=30)
    dispatcher.dispatch([ONE])

    assert first == taken.get(timeout=30) == ONE
