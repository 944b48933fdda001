"""Work that ctrl-c stops without tearing it apart."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from threading import Thread
from typing import Final

from runner.bootstrap.runner import Runner
from runner.core.records import Turn

#: Seconds between two looks: a signal that comes right before a wait is only seen after it.
_PAUSE: Final = 0.2
#: Seconds that work which holds nothing has to notice that it shall end.
_PATIENCE: Final = 5.0


def in_foreground(
    runner: Runner, work: Callable[[], Turn], *, look: Callable[[], None]
) -> Sequence[Turn]:
    """
    Run *work* and return its turn, as it is stored, and then those below it.

    Ctrl-c asks the work to hand its turns back, so that they are pending with their committed
    steps when this returns; a second ctrl-c leaves them to their leases.

    Args:
        runner: Where the work is done.
        work: Runs a turn.
        look: Called again and again meanwhile.

    Raises:
        KeyboardInterrupt: The work did not let go, or ctrl-c was pressed again.
    """
    heartbeat = runner.wiring.heartbeat
    done: Future[Turn] = Future()
    try:
        Thread(target=_finish, args=(done, work), daemon=True).start()
        turn = _result(done, look)
    except KeyboardInterrupt:
        heartbeat.ask_back(at_once=True)
        if not heartbeat.held and wait([done], timeout=_PATIENCE).not_done:
            raise
        turn = _result(done, look)
    return runner.tree(turn.id)


def _finish(done: Future[Turn], work: Callable[[], Turn]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
        done.set_exception(error)


def _result(done: Future[Turn], look: Callable[[], None]) -> Turn:
    while not done.done():
        wait([done], timeout=_PAUSE)
        look()
    return done.result()
