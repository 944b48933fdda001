"""What stops a worker process: signals, and the end of its parent."""

import os
import signal
from collections.abc import Callable
from multiprocessing import parent_process
from types import FrameType
from typing import Final

from runner.worker.routine import Routine

#: Seconds between two looks at the parent.
_PERIOD: Final = 1.0
_STOPPING: Final = (signal.SIGTERM, signal.SIGHUP)


def on_stop_signals(*, first: Callable[[], None], more: Callable[[], None]) -> None:
    """
    Call *first* at the first signal to stop, before the handler there is, and *more* at others.

    The handler there is gets the first only: Dramatiq's ends the process at the second, in the
    middle of whatever is being written.
    """
    handler = _Handler(signal.getsignal(signal.SIGTERM), first, more)
    for number in _STOPPING:
        signal.signal(number, handler)


def stop_with_parent() -> None:
    """
    Stop this process once its parent has died.

    A parent that is killed tells nobody, and whoever starts another in its place would have the
    old processes beside the new ones.
    """
    started_by = parent_process()
    # Asked of the system, it may already be whoever takes in orphans.
    parent = os.getppid() if started_by is None else started_by.pid

    def look() -> float:
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
            routine.stop()
        return _PERIOD

    routine = Routine("runner-parent", look)
    routine.start()


class _Handler:
    def __init__(
        self, previous: object, first: Callable[[], None], more: Callable[[], None]
    ) -> None:
        self._previous = previous
        self._first = first
        self._more = more
        self._called = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._called:
            self._more()
            return
        self._called = True
        self._first()
        if callable(self._previous):
            self._previous(number, frame)
