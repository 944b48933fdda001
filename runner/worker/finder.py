"""Finds the turns that no wake-up led to."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from runner.broker.local import LocalDispatcher
from runner.core.errors import StoreError
from runner.core.ports import Sweeps

log = logging.getLogger(__name__)

_SHORTEST_PAUSE: Final = 0.1
_SLOWING: Final = 1.5
#: Seconds until the next look after one that the database did not answer.
_AFTER_FAILURE: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a process looks for work."""

    #: How long a turn must have been due; a broker's wake-ups have that long to arrive.
    quiet: timedelta
    #: Seconds between two looks while nothing is found.
    longest_pause: float


class Finder:
    """
    Gives due turns from the database to the threads of its own process.

    With a broker in the process it is how all work is found; beside another one it is what makes
    every turn run, whatever becomes of the messages.
    """

    def __init__(self, sweeps: Sweeps, local: LocalDispatcher, pace: Pace, *, threads: int) -> None:
        self._sweeps = sweeps
        self._local = local
        self._pace = pace
        self._threads = threads
        self._pause = _SHORTEST_PAUSE

    def look(self) -> float:
        """
        Find work for the threads that have none waiting, and return when to look again.

        Looking slows down while there is nothing, and goes fast again with the first find.
        """
        if self._local.waiting >= self._threads:
            return self._pace.longest_pause
        try:
            due = self._sweeps.due(limit=self._threads, quiet=self._pace.quiet)
        except StoreError as error:
            log.warning("cannot look for work", extra={"error": str(error)})
            return _AFTER_FAILURE
        found = self._local.add(due) > 0
        slower = min(self._pause * _SLOWING, self._pace.longest_pause)
        self._pause = _SHORTEST_PAUSE if found else slower
        return self._pause
