"""Works on turns: claims one, drives it, and says what should be looked at next."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from runner.core.clock import Clock
from runner.core.errors import ClaimLost, DispatchFailed, StoreError
from runner.core.ids import TurnId
from runner.core.ports import Dispatcher, Journal
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import TurnStatus
from runner.engine.driver import Driver, Pace
from runner.engine.heartbeat import Heartbeat

log = logging.getLogger(__name__)

#: Longer waits for a provider are spent in the database, not in a worker's thread.
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long claims last and turns are kept."""

    lease: timedelta
    slice: timedelta


class TurnWorker:
    """Works on turns for one process, in as many threads as call it."""

    def __init__(
        self,
        *,
        journal: Journal,
        driver: Driver,
        heartbeat: Heartbeat,
        dispatcher: Dispatcher,
        clock: Clock,
        terms: Terms,
    ) -> None:
        self._journal = journal
        self._driver = driver
        self._heartbeat = heartbeat
        self._dispatcher = dispatcher
        self._clock = clock
        self._terms = terms

    def work_on(self, turn_id: TurnId) -> bool:
        """
        Claim a turn and take it as far as one slice goes; return whether there was one to claim.

        A turn that is not there, not due, not first in its lane, or someone else's is left alone,
        so that any number of wake-ups do no harm.
        """
        since = self._clock.monotonic()
        claimed = self._journal.claim(turn_id, self._heartbeat.worker_id, lease=self._terms.lease)
        if claimed is None:
            return False
        pace = Pace(slice=self._terms.slice.total_seconds(), patience=_PATIENCE)
        try:
            self._drive(claimed, pace, since=since)
        except ClaimLost as lost:
            log.warning("claim lost", extra={"turn_id": turn_id, "reason": str(lost)})
        except StoreError as error:
            # The turn keeps its committed steps; its lease ends and a sweep finds it.
            log.error("turn abandoned", extra={"turn_id": turn_id, "error": str(error)})  # noqa: TRY400 - a sentence, not a traceback
        return True

    def run_here(self, turn: Turn, *, since: float, seconds_left: float) -> Turn:
        """
        Take a turn that was added as running to its end in this thread.

        Args:
            turn: The turn, claimed for this process.
            since: The monotonic time before it was added.
            seconds_left: Its whole time.

        Raises:
            ClaimLost: This process was stopped for longer than its lease.
            StoreError: The database did not take a step.
        """
        claimed = ClaimedTurn.of(turn, self._heartbeat.worker_id, seconds_left=seconds_left)
        pace = Pace(slice=None, patience=float("inf"))
        return self._drive(claimed, pace, since=since)

    def _drive(self, claimed: ClaimedTurn, pace: Pace, *, since: float) -> Turn:
        with self._heartbeat.holding(claimed.claim, since=since) as lease:
            driven = self._driver.drive(claimed, lease, pace)
        if driven.next_turn is not None:
            self.wake([driven.next_turn])
        if driven.again and driven.turn.status is TurnStatus.PENDING:
            self.wake([driven.turn.id])
        return driven.turn

    def wake(self, turn_ids: list[TurnId]) -> None:
        """Dispatch turns; what cannot be sent now a sweep makes up for."""
        try:
            self._dispatcher.dispatch(turn_ids)
        except DispatchFailed as error:
            log.warning(
                "stored, and found by workers in time, but none was woken",
                extra={"turn_ids": turn_ids, "error": str(error)},
            )
