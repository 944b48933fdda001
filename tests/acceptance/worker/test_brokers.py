"""Wake-ups through a broker, where looking into the database would take far too long."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dramatiq import Message
from sqlalchemy import create_engine, text

from runner.broker.factory import open_broker
from runner.core.states import TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.waiting import until


@pytest.fixture(params=["sqlite-redis", "postgresql-rabbitmq"])
def project(request: pytest.FixtureRequest, make_project: MakeProject) -> Project:
    """A project whose workers look for forgotten turns once in ten minutes."""
    return make_project(request.param, interval="10m", lease="60s")


def test_a_busy_worker_keeps_no_wake_up_from_an_idle_one(project: Project) -> None:
    project.shut("act as long")
    long = project.runner.submit("actor", "act as long")

    with working(project, threads=1):
        until(lambda: project.count("begin", "act as long"), "the worker to be busy")
        with working(project, threads=1):
            turns = [project.runner.submit("actor", f"act as {number}") for number in range(4)]
            ended = [project.runner.wait(turn.id) for turn in turns]
        meanwhile = project.runner.turn(long.id)
        project.open("act as long")
        last = project.runner.wait(long.id)

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert meanwhile.status is TurnStatus.RUNNING
    assert last.status is TurnStatus.COMPLETED


def test_the_end_of_a_turn_wakes_the_next_of_its_conversation(project: Project) -> None:
    conversation = project.runner.conversation("actor")
    turns = [conversation.post(f"act as {number}") for number in range(3)]

    with working(project):
        ended = [project.runner.wait(turn.id) for turn in turns]

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}


def test_a_worker_that_stops_wakes_another_for_what_it_hands_back(project: Project) -> None:
    project.shut("a")
    turn = project.runner.submit("actor", "act once")

    with working(project) as leaving:
        until(lambda: project.count("begin", "a"), "the tool to begin")
        with working(project) as staying:
            staying.wait_until_ready()
            leaving.ask_to_stop()
            until(lambda: "stopping" in leaving.log, "the worker to begin to stop")
            project.open("a")
            ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert project.count("begin", "a") == 1


def test_a_message_can_ask_for_maintenance(project: Project) -> None:
    broker = open_broker(project.broker, [])
    broker.declare_queue(project.queue)

    with working(project) as worker:
        worker.wait_until_ready()
        (project.root / "agents" / "broken.yaml").write_text("nme: broken\n")
        broker.enqueue(Message(project.queue, "maintain", (), {}, {}))
        until(lambda: "agents/broken.yaml:1:1: " in worker.log, "the problem to be reported")
        worker.ask_to_stop()
        code = worker.wait()
    broker.close()

    assert code == 0


def test_a_database_that_fails_for_a_while_loses_no_turn(project: Project) -> None:
    turn = project.runner.prepare("actor", "act once")

    with working(project) as worker:
        worker.wait_until_ready()
        with turns_table_missing(project):
            project.runner.wiring.dispatcher.dispatch([turn.id])
            until(lambda: "turn left" in worker.log, "the worker to leave the turn")
        project.runner.submit_prepared(turn.id)
        ended = project.runner.wait(turn.id)
        worker.ask_to_stop()
        code = worker.wait()

    assert ended.status is TurnStatus.COMPLETED
    assert code == 0


@contextmanager
def turns_table_missing(project: Project) -> Iterator[None]:
    """Take the turns away for a while."""
    engine = create_engine(project.database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE turns RENAME TO turns_elsewhere"))
    yield
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE turns_elsewhere RENAME TO turns"))
    engine.dispose()
