"""Wake-ups that are lost, repeated, or for nothing."""

import pytest

from runner import Runner
from runner.core.ids import TurnId
from runner.core.states import TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.fakes.dispatcher import FakeDispatcher


def test_prepared_work_is_run_once_it_is_submitted_and_not_before(any_project: Project) -> None:
    prepared = any_project.runner.prepare("actor", "act as prepared")

    with working(any_project):
        other = any_project.runner.submit("actor", "act as other")
        any_project.runner.wait(other.id)
        before = any_project.runner.turn(prepared.id)
        any_project.runner.submit_prepared(prepared.id)
        after = any_project.runner.wait(prepared.id)

    assert before.status is TurnStatus.PREPARED
    assert after.status is TurnStatus.COMPLETED
    assert any_project.count("end", "act as prepared") == 1


def test_submitted_work_is_run_although_its_wake_up_was_lost(any_project: Project) -> None:
    with (
        Runner(any_project.config, dispatcher=FakeDispatcher()) as mute,
        working(any_project) as worker,
    ):
        worker.wait_until_ready()
        turn = mute.submit("actor", "act once")
        ended = mute.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_with_a_broker_that_carries_nothing_everything_completes(
    make_project: MakeProject, closed_port: int, scheme: str
) -> None:
    project = make_project(f"sqlite-{scheme}://user:hunter2@127.0.0.1:{closed_port}")
    conversation = project.runner.conversation("actor")

    with working(project) as worker:
        answers = [conversation.post(f"act as {number}") for number in range(3)]
        tasks = [project.runner.submit("actor", "act a lot") for _ in range(5)]
        ended = [project.runner.wait(turn.id) for turn in (*answers, *tasks)]

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert "hunter2" not in worker.log


@pytest.mark.parametrize("stack", ["sqlite-redis", "sqlite-rabbitmq"])
def test_wake_ups_that_repeat_or_lead_nowhere_do_nothing(
    make_project: MakeProject, stack: str
) -> None:
    project = make_project(stack)
    dispatcher = project.runner.wiring.dispatcher
    ended = project.runner.turn(project.runner.run("actor", "act as before").id)

    turn = project.runner.submit("actor", "act once")
    dispatcher.dispatch([turn.id] * 20)
    dispatcher.dispatch([ended.id, TurnId("turn_unknown")])
    last = project.runner.submit("actor", "act as last")
    with working(project) as worker:
        project.runner.wait(turn.id)
        project.runner.wait(last.id)
        worker.ask_to_stop()
        worker.wait()

    assert project.count("begin", "a") == 1
    assert project.runner.turn(turn.id).fence == 1
    assert project.runner.turn(ended.id) == ended
    assert "ERROR" not in worker.log
    assert "Traceback" not in worker.log
