"""Workers lost at random instants while chiefs and helpers are at work."""

import os
import random
from functools import partial
from typing import Final

import pytest

from runner.core.ids import TurnId
from runner.core.states import TurnStatus
from tests.acceptance.lab.scene import TURNS, WORKER, all_turns, faults, set_up
from tests.acceptance.lab.stops import Stops
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker
from tests.waiting import until

#: A number here repeats the choices of an earlier run.
_SEED: Final = "RUNNER_TEST_CRASH_SEED"
_CHIEFS: Final = 3


@pytest.mark.parametrize(
    ("stack", "rounds"),
    [
        pytest.param("sqlite-memory://", 7, id="7-rounds-sqlite-memory"),
        pytest.param("postgresql-redis", 8, id="8-rounds-postgresql-redis"),
        *(
            pytest.param(stack, rounds, id=f"{rounds}-rounds-{stack}", marks=pytest.mark.crash)
            for stack, rounds in (
                ("sqlite-memory://", 170),
                ("postgresql-redis", 170),
                ("postgresql-rabbitmq", 160),
            )
        ),
    ],
)
def test_nothing_is_lost_and_nothing_done_twice(
    make_project: MakeProject, stack: str, rounds: int
) -> None:
    seed = int(os.environ.get(_SEED) or random.SystemRandom().randrange(10**6))
    print(f"{_SEED}={seed}")  # noqa: T201 - shown when the test fails
    lab = Laboratory(set_up(make_project, stack), random.Random(seed))  # noqa: S311 - no secret

    try:
        for _ in range(rounds):
            lab.play_round()
        lab.finish()
    finally:
        lab.close()

    assert faults(lab.project, lab.chiefs) == []


class Laboratory:
    """Two workers with enough to do, of which one is lost in each round."""

    def __init__(self, project: Project, chance: random.Random) -> None:
        self.project = project
        self.chiefs = 0
        self._chance = chance
        self._stops = Stops(project.root)
        self._workers = [self._new_worker() for _ in range(2)]
        #: Stopped for longer than their leases, and gone on since.
        self._thawed: list[Worker] = []

    def play_round(self) -> None:
        """Let a worker come some way, and kill or stop it there."""
        self._submit_what_is_missing()
        victim = self._chance.randrange(2)
        worker, points = self._workers[victim], self._chance.randint(1, 60)
        until(partial(self._has_passed, worker, self._passed(worker) + points), "work to be done")
        if self._may_freeze and self._chance.random() < 0.25:
            self._freeze(worker)
        else:
            worker.kill()
        self._workers[victim] = self._new_worker()

    def finish(self) -> None:
        until(self._is_finished, "every turn to end")

    def close(self) -> None:
        for worker in (*self._workers, *self._thawed):
            worker.kill()

    @property
    def _may_freeze(self) -> bool:
        # A process that is stopped in the middle of a transaction keeps an SQLite file locked.
        return self.project.database.startswith("postgresql")

    def _freeze(self, worker: Worker) -> None:
        """Stop a worker until whatever it had is another's, and let it go on for a round."""
        for earlier in self._thawed:
            earlier.kill()
        self._thawed = [worker]
        worker.freeze()
        held = self._running()
        until(lambda: not held & self._running(), "every claim to be taken over")
        worker.thaw()

    def _running(self) -> set[tuple[TurnId, int]]:
        return {
            (turn.id, turn.fence)
            for turn in all_turns(self.project)
            if turn.status is TurnStatus.RUNNING
        }

    def _submit_what_is_missing(self) -> None:
        ended = sum(turn.status.is_ended for turn in all_turns(self.project))
        for _ in range(_CHIEFS + ended // TURNS - self.chiefs):
            self.project.runner.submit("chief", "go")
            self.chiefs += 1

    def _has_passed(self, worker: Worker, points: int) -> bool:
        return self._passed(worker) >= points or self._is_finished()

    def _passed(self, worker: Worker) -> int:
        children = set(worker.children)
        return sum(pid in children for pid, _ in self._stops.passed)

    def _is_finished(self) -> bool:
        turns = all_turns(self.project)
        return len(turns) >= TURNS * self.chiefs and all(turn.status.is_ended for turn in turns)

    def _new_worker(self) -> Worker:
        return Worker(self.project, threads=3, module=WORKER)
