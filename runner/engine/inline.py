"""Turns that run in the process that asked for them, with everything below them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from runner.core.clock import Clock
from runner.core.ids import TurnId
from runner.core.ports import Views
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import TurnStatus
from runner.engine.driver import Pace
from runner.engine.work import TurnWorker

#: A turn that runs here is kept until it ends.
_HERE = Pace(slice=None, patience=float("inf"))
#: Turns below an inline one that are worked on side by side.
_MOST_AT_ONCE = 8
#: Seconds between looks at a tree in which others are at work, or that waits for people.
_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 0.5
_GROWTH = 1.2
#: Seconds between looks at what only time brings about.
_UPKEEP = 2.0
_GOES_ON = frozenset({TurnStatus.PENDING, TurnStatus.RUNNING, TurnStatus.WAITING})


class InlineRunner:
    """Takes a turn to its end by the same steps as any worker."""

    def __init__(
        self, worker: TurnWorker, views: Views, *, clock: Clock, upkeep: Callable[[], object]
    ) -> None:
        """
        Make one.

        Args:
            worker: Takes turns further.
            views: Where they are read.
            clock: Tells when to look after the store again.
            upkeep: Repairs the store, in which times run out also where there are no workers.
        """
        self._worker = worker
        self._views = views
        self._clock = clock
        self._upkeep = upkeep

    def run(self, claimed: ClaimedTurn, *, since: float) -> Turn:
        """
        Take a turn that was added as running to its end.

        While it waits for turns below it, those are worked on here too, side by side. A turn that
        is paused meanwhile, or that this process was asked to let go of, is returned as it is.

        Args:
            claimed: The turn, claimed for this process.
            since: The monotonic time before it was added.

        Raises:
            ClaimLost: This process was stopped for longer than its lease.
            StoreError: The database did not take a step.
        """
        turn_id = claimed.turn.id
        self._worker.drive(claimed, _HERE, since=since)
        pause, look_after = _SHORTEST_PAUSE, self._clock.monotonic() + _UPKEEP
        # Read anew: with the database's times, and whoever has worked on it meanwhile.
        while (turn := self._views.turn(turn_id)).status in _GOES_ON:
            if self._worker.is_leaving:
                break
            if self._work_below(turn_id):
                pause = _SHORTEST_PAUSE
                continue
            if self._clock.monotonic() >= look_after:
                self._upkeep()
                look_after = self._clock.monotonic() + _UPKEEP
            Event().wait(pause)
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)
        return turn

    def _work_below(self, turn_id: TurnId) -> bool:
        """Work on whatever is pending from a turn downwards, and say whether something was."""

        def work_on(each: TurnId) -> bool:
            # What is below goes on with any worker, should this process die; the turn itself is
            # for whoever ran it to take up again.
            return self._worker.work_on(each, pace=_HERE, inline=each == turn_id)

        tree = self._views.tree(turn_id)
        pending = [turn.id for turn in tree if turn.status is TurnStatus.PENDING]
        if len(pending) <= 1:
            claimed = [work_on(each) for each in pending]
        else:
            with ThreadPoolExecutor(max_workers=_MOST_AT_ONCE) as threads:
                claimed = list(threads.map(work_on, pending))
        return any(claimed)
