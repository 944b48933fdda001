"""Something done again and again in a thread of its own."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

log = logging.getLogger(__name__)

#: Seconds until the next try after one that failed.
_AFTER_FAILURE: Final = 5.0


class Routine:
    """
    A thread that acts until it is stopped.

    The action returns how many seconds to wait before the next time; one that raises is tried
    again a little later, so that no single failure ends the routine.
    """

    def __init__(self, name: str, action: Callable[[], float]) -> None:
        self._action = action
        self._woken = Event()
        self._stopped = False
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def nudge(self) -> None:
        """End the current wait."""
        self._woken.set()

    def stop(self) -> None:
        """Act no more; an action under way is not waited for."""
        self._stopped = True
        self._woken.set()

    def _run(self) -> None:
        while not self._stopped:
            self._woken.clear()
            self._woken.wait(self._act())

    def _act(self) -> float:
        try:
            return self._action()
        except Exception:
            log.exception("failed", extra={"routine": self._thread.name})
            return _AFTER_FAILURE
