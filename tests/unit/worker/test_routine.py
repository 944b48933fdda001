from queue import SimpleQueue

import pytest

from runner.worker.routine import Routine

LONG = 3600.0


def test_a_routine_acts_again_after_the_pause_its_action_asks_for() -> None:
    acts = SimpleQueue[int]()
    pauses = iter([0.0, 0.0, LONG])

    def act() -> float:
        acts.put(1)
        return next(pauses)

    routine = Routine("test", act)
    routine.start()

    assert [acts.get(timeout=30) for _ in range(3)] == [1, 1, 1]
    routine.stop()


def test_a_nudge_ends_the_pause() -> None:
    acts = SimpleQueue[int]()

    def act() -> float:
        acts.put(1)
        return LONG

    routine = Routine("test", act)
    routine.start()
    acts.get(timeout=30)
    routine.nudge()

    assert acts.get(timeout=30)
    routine.stop()


def test_a_failure_is_reported_and_does_not_end_the_routine(
    caplog: pytest.LogCaptureFixture,
) -> None:
    acts = SimpleQueue[int]()

    def act() -> float:
        acts.put(1)
        raise ValueError("broken")

    routine = Routine("test", act)
    routine.start()
    acts.get(timeout=30)
    routine.nudge()

    assert acts.get(timeout=30)
    routine.stop()
    assert "broken" in caplog.text
