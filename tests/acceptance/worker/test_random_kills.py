"""Workers killed at random instants while there is much to do."""

import random
from collections.abc import Sequence
from functools import partial

import pytest

from runner.core.states import ExecutionStatus
from tests.acceptance.worker.audit import faults
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker
from tests.waiting import until

#: A task whose tool waits until somebody lets it go on.
_HELD = "act as held"


@pytest.mark.parametrize(
    ("stack", "turns", "kills"),
    [
        pytest.param("sqlite-memory://", 50, 3, id="50-turns-sqlite-memory"),
        pytest.param("postgresql-redis", 50, 3, id="50-turns-postgresql-redis"),
        pytest.param(
            "sqlite-memory://", 200, 20, id="200-turns-sqlite-memory", marks=pytest.mark.crash
        ),
        pytest.param(
            "postgresql-redis", 200, 20, id="200-turns-postgresql-redis", marks=pytest.mark.crash
        ),
        pytest.param(
            "postgresql-rabbitmq",
            200,
            20,
            id="200-turns-postgresql-rabbitmq",
            marks=pytest.mark.crash,
        ),
    ],
)
def test_every_turn_completes_and_no_effect_is_repeated(
    make_project: MakeProject, stack: str, turns: int, kills: int
) -> None:
    project = make_project(stack, lease="2s")
    project.shut(_HELD)
    held = project.runner.submit("actor", _HELD).id
    ids = [held, *(project.runner.submit("actor", "act a lot").id for _ in range(turns))]

    kill_at_random(project, kills)

    assert faults(project, ids) == []
    assert project.outcomes(held) == [ExecutionStatus.INTERRUPTED]


def kill_at_random(project: Project, kills: int) -> None:
    """
    Keep two workers at work until nothing is left, and kill one of them every now and then.

    The first to die is at work on the tool that is held.
    """
    chance = random.Random(kills)  # noqa: S311 - the same choices each time
    workers = [Worker(project, threads=3) for _ in range(2)]
    try:
        until(lambda: project.count("begin", _HELD), "the tool that is held to begin")
        workers[_holder(project, workers)].kill()
        project.open(_HELD)
        workers = [worker if worker.is_alive else Worker(project, threads=3) for worker in workers]
        for _ in range(kills - 1):
            victim = chance.randrange(2)
            enough = chance.randint(3, 12)
            until(partial(has_worked, project, workers[victim], enough), "the worker to work")
            workers[victim].kill()
            workers[victim] = Worker(project, threads=3)
        until(partial(is_finished, project), "every turn to end")
    finally:
        for worker in workers:
            worker.kill()


def _holder(project: Project, workers: Sequence[Worker]) -> int:
    (pid,) = (entry.pid for entry in project.ledger if entry.name == _HELD)
    return next(place for place, worker in enumerate(workers) if pid in worker.children)


def has_worked(project: Project, worker: Worker, lines: int) -> bool:
    """Say whether a worker wrote that much, unless there is nothing left to write about."""
    written = sum(entry.pid in worker.children for entry in project.ledger)
    return written >= lines or is_finished(project)


def is_finished(project: Project) -> bool:
    return not any(project.runner.counts().values())
