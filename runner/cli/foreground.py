"""Work that ctrl-c stops without tearing it apart."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Final

from runner.bootstrap.runner import Runner
from runner.core.records import Turn

#: Seconds between two looks: a signal that comes right before a wait is only seen after it.
_PAUSE: Final = 0.2


def in_foreground(runner: Runner, work: Callable[[], Turn]) -> Turn:
    """
    Run *work* and return its turn, as it is stored.

    Ctrl-c asks the work to hand its turn back, so that it is pending with its committed steps
    when this returns; a second ctrl-c leaves it to its lease.

    Raises:
        KeyboardInterrupt: There was nothing to hand back, or it took too long.
    """
    heartbeat = runner.wiring.heartbeat
    done: Future[Turn] = Future()
    try:
        Thread(target=_finish, args=(done, work), daemon=True).start()
        turn = _result(done)
    except KeyboardInterrupt:
        if not heartbeat.held:
            raise
        heartbeat.ask_back(at_once=True)
        turn = _result(done)
    return runner.turn(turn.id)


def _finish(done: Future[Turn], work: Callable[[], Turn]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
        done.set_exception(error)


def _result(done: Future[Turn]) -> Turn:
    while not done.done():
        wait([done], timeout=_PAUSE)
    return done.result()
