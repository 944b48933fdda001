import pytest

from runner.core.ids import TurnId
from runner.definitions.codes import Code
from runner.definitions.problem import Problem
from runner.engine.sweep import Sweeper
from runner.worker.upkeep import Upkeep
from tests.fakes.dispatcher import FakeDispatcher
from tests.fakes.sweeps import FakeSweeps

PROBLEM = Problem(
    path="agents/hello.yaml",
    line=3,
    column=1,
    code=Code.WRONG_TYPE,
    message="expected text",
    hint="put it in quotes if it is text",
)
REPORT = "agents/hello.yaml:3:1: error: expected text (put it in quotes if it is text)"


class FakeDefinitions:
    """Definitions with the problems they were given."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.are_in_force = True

    def problems(self) -> list[Problem]:
        return self.found

    def has_good(self) -> bool:
        return self.are_in_force


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def dispatcher() -> FakeDispatcher:
    return FakeDispatcher()


@pytest.fixture
def definitions() -> FakeDefinitions:
    return FakeDefinitions()


@pytest.fixture
def upkeep(sweeps: FakeSweeps, dispatcher: FakeDispatcher, definitions: FakeDefinitions) -> Upkeep:
    return Upkeep(Sweeper(sweeps, dispatcher, settle_callbacks=lambda _limit: []), definitions)


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
    upkeep: Upkeep, definitions: FakeDefinitions, caplog: pytest.LogCaptureFixture
) -> None:
    upkeep.run()
    definitions.found.append(PROBLEM)
    upkeep.run()
    upkeep.run()
    definitions.found.clear()
    upkeep.run()
    upkeep.run()

    assert caplog.messages == [REPORT, "the definitions have no problems any more"]


def test_definitions_that_were_never_good_are_reported_with_what_follows(
    upkeep: Upkeep, definitions: FakeDefinitions, caplog: pytest.LogCaptureFixture
) -> None:
    definitions.found.append(PROBLEM)
    definitions.are_in_force = False

    upkeep.run()

    consequence, report = caplog.messages
    assert "turns that are stored run, new ones are refused" in consequence
    assert report == REPORT
