"""One worker busy with a model call, and another that is idle."""

import pytest

from runner.core.states import TurnStatus
from tests.acceptance.lab.scene import WORKER, set_up
from tests.acceptance.lab.stops import Stops
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.workers import working
from tests.waiting import until


@pytest.mark.parametrize("stack", ["postgresql-redis", "postgresql-rabbitmq"])
def test_a_turn_behind_a_long_model_call_is_answered_by_the_idle_worker(
    make_project: MakeProject, stack: str
) -> None:
    # Nobody looks into the database meanwhile: what runs was woken through the broker.
    project = set_up(make_project, stack, interval="10m", lease="60s")
    stops = Stops(project.root)
    stops.hold("model chief 1 asked")

    with (
        working(project, threads=1, module=WORKER) as one,
        working(project, threads=1, module=WORKER) as two,
    ):
        one.wait_until_ready()
        two.wait_until_ready()
        long = project.runner.submit("chief", "go")
        until(lambda: stops.is_holding, "a worker to be busy with a model call")
        turns = [project.runner.submit("helper", f"task {number}") for number in range(3)]
        ended = [project.runner.wait(turn.id) for turn in turns]
        meanwhile = project.runner.turn(long.id)

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert meanwhile.status is TurnStatus.RUNNING
