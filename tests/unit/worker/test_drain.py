from collections.abc import Callable, Iterator
from threading import Event

import pytest

from runner.worker.drain import Drain
from tests.fakes.clock import FakeClock

GRACE = 8.0


class FakeExecutions:
    """Holds turns until it is asked for them; each request takes a second."""

    def __init__(self, clock: FakeClock, *, held: int) -> None:
        self._clock = clock
        self.held = held
        self.requests: list[tuple[float, bool]] = []
        #: What happens during the request of a number, from 0.
        self.on_request: dict[int, Callable[[], None]] = {}

    def ask_back(self, *, at_once: bool) -> None:
        self.on_request.get(len(self.requests), lambda: None)()
        self.requests.append((self._clock.monotonic(), at_once))
        self._clock.advance(1)


class FakeProcess:
    """Remembers how it was ended."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.ended = Event()

    def end(self, code: int) -> None:
        self.codes.append(code)
        self.ended.set()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def process() -> FakeProcess:
    return FakeProcess()


@pytest.fixture
def executions(clock: FakeClock) -> FakeExecutions:
    return FakeExecutions(clock, held=1)


@pytest.fixture
def drain(clock: FakeClock, executions: FakeExecutions, process: FakeProcess) -> Iterator[Drain]:
    drain = Drain(lambda: executions, grace=GRACE, clock=clock, end_process=process.end)
    yield drain
    assert not drain.has_begun or process.ended.wait(30)


def test_executions_are_asked_at_their_boundary_first_and_shortly_before_the_end_at_once(
    drain: Drain, executions: FakeExecutions, process: FakeProcess, clock: FakeClock
) -> None:
    began_at = clock.monotonic()

    drain.begin()
    process.ended.wait(30)

    asked_at_once = [at for at, at_once in executions.requests if at_once]
    assert executions.requests[0] == (began_at, False)
    assert asked_at_once[0] == began_at + 5
    assert len(executions.requests) == GRACE


@pytest.mark.parametrize(("held", "code"), [(1, 1), (0, 0)])
def test_the_process_ends_with_its_grace_time_whatever_still_runs(
    drain: Drain, executions: FakeExecutions, process: FakeProcess, held: int, code: int
) -> None:
    executions.held = held

    drain.begin()
    process.ended.wait(30)

    assert process.codes == [code]


def test_beginning_again_does_nothing(drain: Drain, process: FakeProcess) -> None:
    drain.begin()
    process.ended.wait(30)
    drain.begin()

    assert process.codes == [1]


def test_insisting_gives_up_what_runs_at_once(
    drain: Drain, executions: FakeExecutions, process: FakeProcess
) -> None:
    executions.on_request[2] = drain.insist

    drain.begin()
    process.ended.wait(30)

    assert [at_once for _, at_once in executions.requests] == [False] * 3 + [True] * 5


def test_an_echo_of_the_signal_is_not_taken_for_insisting(
    drain: Drain, executions: FakeExecutions, process: FakeProcess
) -> None:
    executions.on_request[0] = drain.insist

    drain.begin()
    process.ended.wait(30)

    assert [at_once for _, at_once in executions.requests] == [False] * 5 + [True] * 3


def test_insisting_before_it_began_does_nothing(drain: Drain) -> None:
    drain.insist()

    assert not drain.has_begun
