"""A worker lost at every point there is, one after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from tests.acceptance.lab.scene import WORKER, faults, is_finished, set_up
from tests.acceptance.lab.stops import Stops
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker, working
from tests.waiting import until


def _all_points() -> Iterator[str]:
    for agent, claims, requests, steps in (("chief", 3, 7, 14), ("helper", 1, 3, 3)):
        yield from (f"claim {agent} {number}" for number in range(1, claims + 1))
        for number in range(1, requests + 1):
            yield from (f"model {agent} {number} {when}" for when in ("asked", "answered"))
        for number in range(1, steps + 1):
            yield from (f"step {agent} {number} {when}" for when in ("before", "after"))
    for name in ("own", "safe", "one", "two", "three"):
        yield from (f"tool {name} {when}" for when in ("begun", "done"))
    for what in ("launch helper", "callback", "message"):
        yield from (f"{what} {when}" for when in ("before", "after"))


POINTS: Final = tuple(_all_points())
_STACKS: Final = ("sqlite-memory://", "postgresql-redis", "postgresql-rabbitmq")
#: Where most can go wrong: these are tried each time, the others with the long tests.
_KILLED_ALWAYS: Final = {
    "step chief 1 after",
    "tool own done",
    "tool safe done",
    "step chief 5 after",
    "launch helper after",
    "step chief 10 after",
    "callback before",
    "message after",
}
_FROZEN_ALWAYS: Final = {"tool own begun", "step helper 3 before", "callback before"}


def _tried(always: set[str], point: str, stack: str) -> object:
    marks = () if point in always else (pytest.mark.crash,)
    return pytest.param(point, stack, marks=marks, id=f"{point.replace(' ', '-')}-{stack}")


@contextmanager
def held_at(project: Project, point: str) -> Iterator[Worker]:
    """Submit a chief, and lend the worker that has come to *point* and is held there."""
    project.runner.submit("chief", "go")
    stops = Stops(project.root)
    stops.hold(point)
    with working(project, module=WORKER) as worker:
        until(lambda: stops.is_holding, f"a worker to reach {point!r}")
        yield worker


def test_every_point_that_a_worker_comes_by_is_tried(make_project: MakeProject) -> None:
    project = set_up(make_project, "sqlite-memory://", lease="60s")
    project.runner.submit("chief", "go")

    with working(project, module=WORKER):
        until(lambda: is_finished(project), "the chief and its helpers to end")

    assert {point for _, point in Stops(project.root).passed} == set(POINTS)
    assert faults(project) == []


@pytest.mark.parametrize(
    ("point", "stack"),
    [
        _tried(_KILLED_ALWAYS, point, _STACKS[place % len(_STACKS)])
        for place, point in enumerate(POINTS)
    ],
)
def test_what_a_killed_worker_leaves_is_done_by_another(
    make_project: MakeProject, point: str, stack: str
) -> None:
    project = set_up(make_project, stack)
    with held_at(project, point) as worker:
        worker.kill()

    with working(project, module=WORKER):
        until(lambda: is_finished(project), "the chief and its helpers to end")

    assert faults(project) == []


@pytest.mark.parametrize(
    ("point", "stack"),
    [_tried(_FROZEN_ALWAYS, point, _STACKS[1 + place % 2]) for place, point in enumerate(POINTS)],
)
def test_a_worker_that_was_stopped_and_goes_on_spoils_nothing(
    make_project: MakeProject, point: str, stack: str
) -> None:
    project = set_up(make_project, stack)
    with held_at(project, point) as stopped:
        stopped.freeze()
        with working(project, module=WORKER):
            until(lambda: is_finished(project), "the chief and its helpers to end")
            Stops(project.root).let_go()
            stopped.thaw()
            project.runner.submit("chief", "go")
            until(lambda: is_finished(project, 2), "the second chief to end")
        stopped.ask_to_stop()
        code = stopped.wait()

    assert code == 0
    assert faults(project, 2) == []
