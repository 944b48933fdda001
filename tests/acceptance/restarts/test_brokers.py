"""A broker that goes away and comes back, or forgets everything."""

from functools import partial

import pytest

from runner.core.states import TurnStatus
from tests.acceptance.restarts.audit import faults, has_acted, is_finished
from tests.acceptance.restarts.conftest import MakeProject
from tests.acceptance.restarts.servers import Redis, Server
from tests.acceptance.worker.workers import working
from tests.waiting import until

_TREES = [pytest.param(4, id="4-trees"), pytest.param(40, id="40-trees", marks=pytest.mark.crash)]


@pytest.mark.parametrize("trees", _TREES)
def test_turns_go_on_while_the_broker_is_away_and_end_once_it_is_back(
    make_project: MakeProject, broker: Server, trees: int
) -> None:
    project = make_project(broker.url)
    roots = [project.runner.submit("lead", "lead a lot").id for _ in range(trees)]

    with working(project):
        until(partial(has_acted, project, trees), "the turns to get somewhere")
        broker.kill()
        until(partial(has_acted, project, 4 * trees), "the turns to go on without a broker")
        broker.start()
        late = project.runner.submit("lead", "lead once").id
        until(partial(is_finished, project), "every turn to end")

    assert faults(project, [*roots, late]) == []


def test_a_worker_takes_wake_ups_again_from_a_broker_that_came_back(
    make_project: MakeProject, broker: Server
) -> None:
    project = make_project(broker.url, interval="10m", lease="60s")

    with working(project) as worker:
        worker.wait_until_ready()
        before = project.runner.wait(project.runner.submit("actor", "act as before").id)
        broker.kill()
        broker.start()
        after = project.runner.wait(project.runner.submit("actor", "act as after").id)

    assert {before.status, after.status} == {TurnStatus.COMPLETED}
    assert faults(project, [before.id, after.id]) == []


def test_what_is_submitted_while_the_broker_is_down_is_run_then_and_afterwards(
    make_project: MakeProject, broker: Server
) -> None:
    project = make_project(broker.url)
    broker.kill()
    roots = [project.runner.submit("lead", "lead once").id for _ in range(2)]

    with working(project):
        without = [project.runner.wait(root) for root in roots]
        roots.append(project.runner.submit("lead", "lead once").id)
        broker.start()
        roots.append(project.runner.submit("lead", "lead once").id)
        until(partial(is_finished, project), "every turn to end")

    assert {turn.status for turn in without} == {TurnStatus.COMPLETED}
    assert faults(project, roots) == []


@pytest.mark.parametrize(
    "trees", [pytest.param(10, id="10-trees"), pytest.param(100, marks=pytest.mark.crash)]
)
def test_turns_whose_wake_ups_were_all_forgotten_end(
    make_project: MakeProject, redis: Redis, trees: int
) -> None:
    project = make_project(redis.url)
    roots = [project.runner.submit("lead", "lead once").id for _ in range(trees)]
    waiting = redis.flush()

    with working(project):
        until(partial(has_acted, project, trees), "the turns to get somewhere")
        redis.flush()
        until(partial(is_finished, project), "every turn to end", patience=240)

    assert waiting
    assert faults(project, roots) == []
