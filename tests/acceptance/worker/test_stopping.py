"""Workers asked to stop: what they work on goes on elsewhere."""

from collections.abc import Callable

import pytest

from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker, is_running, working
from tests.waiting import until


def is_claimed(project: Project, turn_id: str) -> bool:
    return project.runner.turn(turn_id).status is TurnStatus.RUNNING


@pytest.mark.parametrize(
    "stop",
    [
        pytest.param(Worker.ask_to_stop, id="through-its-parent"),
        pytest.param(Worker.ask_all_to_stop, id="as-a-process-group"),
    ],
)
def test_a_turn_whose_model_is_being_asked_is_handed_back_and_completed_by_another_worker(
    make_project: MakeProject, stop: Callable[[Worker], None]
) -> None:
    project = make_project("postgresql-redis", grace="3s", lease="60s")
    turn = project.runner.submit("actor", "ponder")

    with working(project) as worker:
        until(lambda: is_claimed(project, turn.id), "the turn to run")
        stop(worker)
        code = worker.wait()
    between = project.runner.turn(turn.id)
    with working(project):
        ended = project.runner.wait(turn.id)

    assert code == 0
    assert between.status is TurnStatus.PENDING
    assert ended.status is TurnStatus.COMPLETED
    assert project.events(turn.id, "model.responded") == 1


@pytest.mark.parametrize("stack", ["sqlite-memory://", "postgresql-redis"])
def test_a_tool_that_ends_within_the_grace_time_keeps_its_result(
    make_project: MakeProject, stack: str
) -> None:
    project = make_project(stack, lease="60s")
    project.shut("a")
    turn = project.runner.submit("actor", "act once")

    with working(project) as worker:
        until(lambda: project.count("begin", "a"), "the tool to begin")
        worker.ask_to_stop()
        until(lambda: "stopping" in worker.log, "the worker to begin to stop")
        late = project.runner.submit("actor", "act as late")
        project.open("a")
        code = worker.wait()
    between = project.runner.turn(turn.id)
    never_claimed = project.runner.turn(late.id)
    with working(project):
        ended = [project.runner.wait(turn_id) for turn_id in (turn.id, late.id)]

    assert code == 0
    assert between.status is TurnStatus.PENDING
    assert never_claimed.fence == 0
    assert project.outcomes(turn.id) == [ExecutionStatus.COMPLETED]
    assert project.count("begin", "a") == 1
    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}


def test_a_tool_that_never_comes_back_does_not_keep_a_worker_from_stopping(
    make_project: MakeProject,
) -> None:
    project = make_project("sqlite-memory://", grace="2s", lease="60s")
    turn = project.runner.submit("actor", "hang")

    with working(project) as worker:
        until(lambda: project.count("begin", "hang"), "the tool to begin")
        worker.ask_to_stop()
        code = worker.wait()
    between = project.runner.turn(turn.id)
    with working(project):
        ended = project.runner.wait(turn.id)

    assert code == 0
    assert between.status is TurnStatus.PENDING
    assert ended.status is TurnStatus.COMPLETED
    assert project.outcomes(turn.id) == [ExecutionStatus.INTERRUPTED]
    assert project.count("begin", "hang") == 1


@pytest.mark.parametrize("broker", ["memory://", "redis", "rabbitmq"])
def test_an_idle_worker_stops_cleanly(make_project: MakeProject, broker: str) -> None:
    project = make_project(f"sqlite-{broker}")

    with working(project, processes=2) as worker:
        worker.wait_until_ready()
        worker.ask_to_stop()
        code = worker.wait()

    assert code == 0
    assert "ERROR" not in worker.log
    assert "CRITICAL" not in worker.log


def test_a_worker_that_is_asked_to_stop_again_gives_up_at_once_what_it_waits_for(
    make_project: MakeProject,
) -> None:
    project = make_project("sqlite-memory://", grace="10m", lease="60s")
    turn = project.runner.submit("actor", "hang")

    with working(project) as worker:
        until(lambda: project.count("begin", "hang"), "the tool to begin")
        children = worker.children
        until(lambda: asked_to_stop(worker, children), "the processes to end")
        code = worker.wait()

    assert code == 0
    assert project.runner.turn(turn.id).status is TurnStatus.PENDING


def test_a_worker_whose_broker_is_down_stops_too(
    make_project: MakeProject, closed_port: int
) -> None:
    project = make_project(f"sqlite-redis://127.0.0.1:{closed_port}", lease="60s")
    turn = project.runner.submit("actor", "ponder")

    with working(project) as worker:
        until(lambda: is_claimed(project, turn.id), "the turn to run")
        worker.ask_to_stop()
        code = worker.wait()

    assert code == 0
    assert project.runner.turn(turn.id).status is TurnStatus.PENDING


def test_workers_whose_parent_was_killed_hand_back_their_turns_and_end(
    make_project: MakeProject,
) -> None:
    project = make_project("sqlite-memory://")
    turn = project.runner.submit("actor", "hang")

    with working(project, processes=2) as worker:
        until(lambda: project.count("begin", "hang"), "the tool to begin")
        children = worker.children
        worker.kill_parent()
        until(lambda: not any(map(is_running, children)), "the processes to end")

    assert len(children) == 2
    assert project.runner.turn(turn.id).status is TurnStatus.PENDING


def asked_to_stop(worker: Worker, children: list[int]) -> bool:
    """Ask a worker to stop, and say whether its processes have ended."""
    worker.ask_to_stop()
    return not any(map(is_running, children))
