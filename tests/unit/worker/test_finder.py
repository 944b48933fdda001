from datetime import timedelta

import pytest
from dramatiq.brokers.stub import StubBroker

from runner.broker.local import LocalDispatcher
from runner.core.ids import TurnId
from runner.worker.finder import Finder, Pace
from tests.fakes.sweeps import FakeSweeps

PACE = Pace(quiet=timedelta(seconds=3), longest_pause=1.0)
ONE, TWO, THREE = TurnId("turn_1"), TurnId("turn_2"), TurnId("turn_3")


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def local() -> LocalDispatcher:
    return LocalDispatcher(StubBroker(middleware=[]), "local")


@pytest.fixture
def finder(sweeps: FakeSweeps, local: LocalDispatcher) -> Finder:
    return Finder(sweeps, local, PACE, threads=2)


def test_due_turns_are_given_to_the_threads_of_the_process(
    finder: Finder, sweeps: FakeSweeps, local: LocalDispatcher
) -> None:
    sweeps.pending = [ONE, TWO, THREE]

    finder.look()

    assert local.waiting == 2
    assert sweeps.asked == [(2, timedelta(seconds=3))]


def test_a_turn_that_waits_for_a_thread_is_not_given_twice(
    finder: Finder, sweeps: FakeSweeps, local: LocalDispatcher
) -> None:
    sweeps.pending = [ONE]

    finder.look()
    finder.look()

    assert local.waiting == 1


def test_nothing_is_looked_for_while_every_thread_has_something_waiting(
    finder: Finder, sweeps: FakeSweeps, local: LocalDispatcher
) -> None:
    local.dispatch([ONE, TWO])

    pause = finder.look()

    assert sweeps.asked == []
    assert pause == PACE.longest_pause


def test_looking_slows_down_to_the_longest_pause_and_goes_fast_again_with_a_find(
    finder: Finder, sweeps: FakeSweeps
) -> None:
    idle = [finder.look() for _ in range(20)]
    sweeps.pending = [ONE]
    found = finder.look()

    assert idle == sorted(idle)
    assert idle[-1] == PACE.longest_pause
    assert found < idle[0]


def test_a_database_that_does_not_answer_is_asked_again_later(
    finder: Finder, sweeps: FakeSweeps, caplog: pytest.LogCaptureFixture
) -> None:
    sweeps.is_down = True

    pause = finder.look()

    assert pause > PACE.longest_pause
    assert "cannot look for work" in caplog.text
