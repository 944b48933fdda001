"""Workers killed by SIGKILL at chosen instants; nothing is lost and nothing done twice."""

from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker, working
from tests.waiting import until


def kill_while_it_acts(project: Project, name: str) -> None:
    """Let a worker come to where the tool has begun and its effect has not happened."""
    begun = project.count("begin", name)
    project.shut(name)
    worker = Worker(project)
    until(lambda: project.count("begin", name) > begun, f"the tool {name!r} to begin")
    worker.kill()
    project.open(name)


def test_a_response_that_was_committed_is_used_and_each_of_its_tools_has_one_effect(
    project: Project,
) -> None:
    turn = project.runner.submit("actor", "act twice at once")
    kill_while_it_acts(project, "a")

    with working(project):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert project.count("end", "a") == project.count("end", "b") == 1
    assert project.events(turn.id, "model.responded") == 2
    assert project.outcomes(turn.id) == [ExecutionStatus.COMPLETED] * 2


def test_a_result_that_was_committed_is_kept_and_the_request_before_it_not_repeated(
    project: Project,
) -> None:
    turn = project.runner.submit("actor", "act twice in a row")
    kill_while_it_acts(project, "b")

    with working(project):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert project.count("begin", "a") == project.count("end", "a") == 1
    assert project.count("end", "b") == 1
    assert project.events(turn.id, "model.responded") == 3


def test_a_tool_whose_process_died_is_not_run_again_and_its_outcome_is_unknown(
    project: Project,
) -> None:
    turn = project.runner.submit("actor", "act once")
    kill_while_it_acts(project, "a")

    with working(project):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert project.outcomes(turn.id) == [ExecutionStatus.INTERRUPTED]
    assert project.count("begin", "a") == 1
    assert project.count("end", "a") == 0


def test_a_replay_safe_tool_runs_again_with_the_same_key_however_often_its_process_dies(
    project: Project,
) -> None:
    turn = project.runner.submit("actor", "act safely")
    kill_while_it_acts(project, "a")
    kill_while_it_acts(project, "a")

    with working(project):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert project.outcomes(turn.id) == [ExecutionStatus.COMPLETED]
    assert project.count("begin", "a") == 3
    assert project.count("end", "a") == 1
    assert len({entry.key for entry in project.ledger}) == 1


def test_a_turn_that_kills_its_workers_fails_and_holds_up_no_other(
    make_project: MakeProject,
) -> None:
    project = make_project("sqlite-memory://", lease="1s", max_claims=2)
    poisoned = project.runner.submit("actor", "die")
    others = [project.runner.submit("actor", "act as other") for _ in range(3)]

    while not project.has_ended(poisoned.id):
        with working(project, threads=1) as worker:
            until(
                lambda: not worker.is_alive or project.has_ended(poisoned.id),
                "the worker to die or the turn to end",
            )
    with working(project):
        ended = [project.runner.wait(turn.id) for turn in others]

    error = project.runner.turn(poisoned.id).error
    assert error is not None
    assert error.code == "poisoned"
    assert project.count("begin", "die") == 1 + 2  # the first died after a step was committed
    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
