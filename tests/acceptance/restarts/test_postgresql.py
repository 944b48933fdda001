"""A database that goes away and comes back, or that only parts of a worker can reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial

import psycopg
import pytest

from runner.core.ids import TurnId, WorkerId
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.restarts.audit import faults, has_acted, is_finished
from tests.acceptance.restarts.conftest import MakeProject
from tests.acceptance.restarts.gate import Passage, gate_to
from tests.acceptance.restarts.projects import use_claude
from tests.acceptance.restarts.servers import Postgres, Redis
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.servers.messages_api import messages_api
from tests.servers.replies import Answer, Json, Reply, call, say, tool_use
from tests.waiting import until

#: How a heartbeat begins; no other statement does.
_HEARTBEAT = b"UPDATE turns SET lease_expires_at="


@pytest.mark.parametrize(
    ("trees", "restarts"),
    [
        pytest.param(5, 2, id="5-trees"),
        pytest.param(40, 8, id="40-trees", marks=pytest.mark.crash),
    ],
)
def test_turns_end_although_the_database_is_restarted_again_and_again(
    make_project: MakeProject, postgres: Postgres, trees: int, restarts: int
) -> None:
    project = make_project("memory://")
    roots = [project.runner.submit("lead", "lead a lot").id for _ in range(trees)]

    with working(project, processes=2) as worker:
        for number in range(restarts):
            enough = 4 * trees * (number + 1) // restarts
            until(partial(has_acted, project, enough), "the turns to get somewhere")
            postgres.restart()
        until(partial(is_finished, project), "every turn to end")

    assert faults(project, roots) == []
    assert "Traceback" not in worker.log


@pytest.mark.parametrize("orphans", [pytest.param(20), pytest.param(250, marks=pytest.mark.crash)])
def test_a_sweep_in_the_middle_of_which_the_database_is_restarted_is_made_up_for(
    make_project: MakeProject, postgres: Postgres, own_database: str, orphans: int
) -> None:
    project = make_project("memory://")
    turns = [project.runner.submit("actor", "act once") for _ in range(orphans)]
    for turn in turns:
        orphan(project, turn.id)

    with events_locked(own_database) as holder, working(project):
        until(lambda: someone_waits(holder), "a sweep to be in the middle of a repair")
        postgres.restart()
        until(partial(is_finished, project), "every turn to end", patience=240)

    assert faults(project, [turn.id for turn in turns]) == []
    assert {project.runner.turn(turn.id).fence for turn in turns} == {2}


def test_connections_that_are_ended_while_the_model_answers_fail_no_turn(
    make_project: MakeProject, own_database: str
) -> None:
    project = make_project("memory://")

    def answer(body: Json) -> Answer:
        until(lambda: end_idle(own_database), "a connection to be idle")
        return answer_to(body)

    with messages_api(answer) as api:
        use_claude(project, api.url)
        root = project.runner.submit("lead", "lead").id
        with working(project):
            until(partial(is_finished, project), "every turn to end")

    assert faults(project, [root]) == []
    assert api.refused == []
    assert len(api.requests) == 4 + 2 * 2


@pytest.mark.parametrize(
    "loss", [pytest.param(Passage.BROKEN, marks=pytest.mark.crash), Passage.SILENT]
)
def test_a_worker_whose_heartbeats_alone_are_lost_stops_by_itself_and_another_goes_on(
    make_project: MakeProject, own_database: str, redis: Redis, loss: Passage
) -> None:
    # With an interval that long a worker has nothing but wake-ups to go by.
    project = make_project(redis.url, interval="10m")
    project.shut("a")
    turn = project.runner.submit("actor", "act twice in a row")

    def rule(said: bytes) -> Passage:
        return loss if _HEARTBEAT in said else Passage.FREE

    with gate_to(own_database, rule=rule) as gate:
        replace(project, database=gate.url).configure(interval="10m")
        with working(project) as cut_off:
            until(lambda: "claim lost" in cut_off.log, "the worker to stop by itself")
            noticed = "heartbeat failed" in cut_off.log
            abandoned = project.runner.turn(turn.id)
            replace(project, broker="memory://").configure()
            with working(project):
                ended = project.runner.wait(turn.id)
            written = project.runner.events(turn.id)
            project.open("a")
            until(lambda: project.count("end", "a"), "the tool to end")

    assert loss is Passage.BROKEN or not noticed  # it waits for no answer
    assert (abandoned.status, abandoned.fence) == (TurnStatus.RUNNING, 1)
    assert ended.status is TurnStatus.COMPLETED
    assert project.outcomes(turn.id) == [ExecutionStatus.INTERRUPTED, ExecutionStatus.COMPLETED]
    assert project.runner.events(turn.id) == written
    assert faults(project, [turn.id]) == []


def orphan(project: Project, turn_id: TurnId) -> None:
    """Claim a turn for a worker that does not exist, and for no time."""
    claimed = project.runner.wiring.store.journal.claim(
        turn_id, WorkerId("worker_gone"), lease=timedelta(0)
    )
    assert claimed is not None


@contextmanager
def events_locked(url: str) -> Iterator[psycopg.Connection]:
    """Keep everyone from storing an event until the connection is lost."""
    connection = psycopg.connect(url)
    try:
        connection.execute("LOCK TABLE events IN SHARE MODE")
        yield connection
    finally:
        connection.close()


def someone_waits(holder: psycopg.Connection) -> bool:
    waiting = holder.execute("SELECT FROM pg_locks WHERE NOT granted")
    return waiting.fetchone() is not None


def end_idle(url: str) -> int:
    """End every idle connection to a database and return how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state = 'idle'"
        )
        return len(ended.fetchall())


def answer_to(body: Json) -> Answer:
    """Lead or act, by the tools that are offered and what was said so far."""
    tools = {tool["name"] for tool in body["tools"]}
    said: int = sum(message["role"] == "assistant" for message in body["messages"])
    delegated = [tool_use("actor", {"task": f"part {number}"}) for number in range(2)]
    answers: list[Answer] = [
        call("act", {"name": "a"}),
        Reply(content=delegated, stop_reason="tool_use"),
        call("act_safely", {"name": "c"}),
        say("done"),
    ]
    return (answers if "actor" in tools else [answers[0], answers[-1]])[said]
