import pytest

from runner.core.ids import TurnId
from runner.definitions.codes import Code
from runner.definitions.problem import Problem
from runner.engine.sweep import Sweeper
from runner.worker.upkeep import Upkeep
from tests.fakes.dispatcher import FakeDispatcher
from tests.fakes.sweeps import FakeSweeps

PROBLEM = Problem(
    path="agents/hello.yaml", line=3, column=1, code=Code.WRONG_TYPE, message="expected text"
)


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def dispatcher() -> FakeDispatcher:
    return FakeDispatcher()


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
def upkeep(sweeps: FakeSweeps, dispatcher: FakeDispatcher, problems: list[Problem]) -> Upkeep:
    return Upkeep(Sweeper(sweeps, dispatcher, settle_callbacks=lambda _limit: []), lambda: problems)


def test_turns_of_dead_workers_are_released_and_others_woken_for_them(
    upkeep: Upkeep, sweeps: FakeSweeps, dispatcher: FakeDispatcher
) -> None:
    sweeps.expired = [TurnId("turn_1")]

    upkeep.run()

    assert dispatcher.sent == ["turn_1"]


def test_due_turns_are_left_to_the_finder(
    upkeep: Upkeep, sweeps: FakeSweeps, dispatcher: FakeDispatcher
) -> None:
    sweeps.pending = [TurnId("turn_1")]

    upkeep.run()

    assert dispatcher.sent == []


def test_problems_are_reported_once_until_they_change(
    upkeep: Upkeep, problems: list[Problem], caplog: pytest.LogCaptureFixture
) -> None:
    upkeep.run()
    problems.append(PROBLEM)
    upkeep.run()
    upkeep.run()
    problems.clear()
    upkeep.run()
    upkeep.run()

    assert caplog.messages == [
        "agents/hello.yaml:3: expected text",
        "the definitions have no problems any more",
    ]
