"""Works on turns: claims one, drives it, and says what should be looked at next."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from runner.core.clock import Clock
from runner.core.errors import ClaimLost, StoreError
from runner.core.ids import TurnId
from runner.core.ports import Journal
from runner.core.records import ClaimedTurn, Turn
from runner.engine.aftermath import Aftermath
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
        aftermath: Aftermath,
        clock: Clock,
        terms: Terms,
    ) -> None:
        self._journal = journal
        self._driver = driver
        self._heartbeat = heartbeat
        self._aftermath = aftermath
        self._clock = clock
        self._terms = terms
        self._pace = Pace(slice=terms.slice.total_seconds(), patience=_PATIENCE)

    @property
    def is_leaving(self) -> bool:
        """Whether this process was asked to let go of its turns."""
        return self._heartbeat.is_leaving

    def work_on(self, turn_id: TurnId, *, pace: Pace | None = None, inline: bool = False) -> bool:
        """
        Claim a turn and take it as far as one slice goes; return whether there was one to claim.

        A turn that is not there, not due, not first in its lane, or someone else's is left alone,
        so that any number of wake-ups do no harm. One that is claimed *inline* becomes stale if
        this process dies.
        """
        since = self._clock.monotonic()
        claimed = self._journal.claim(
            turn_id, self._heartbeat.worker_id, lease=self._terms.lease, inline=inline
        )
        if claimed is None:
            return False
        try:
            self.drive(claimed, pace or self._pace, since=since)
        except ClaimLost as lost:
            log.warning("claim lost", extra={"turn_id": turn_id, "reason": str(lost)})
        except StoreError as error:
            # The turn keeps its committed steps; its lease ends and a sweep finds it.
            log.error("turn abandoned", extra={"turn_id": turn_id, "error": str(error)})  # noqa: TRY400 - a sentence, not a traceback
        return True

    def drive(self, claimed: ClaimedTurn, pace: Pace, *, since: float) -> Turn:
        """
        Take a claimed turn as far as *pace* goes, and set going what follows.

        Args:
            claimed: The turn, claimed for this process.
            pace: How long it may be kept.
            since: The monotonic time before it was claimed.

        Raises:
            ClaimLost: The turn is someone else's by now.
            StoreError: The database did not take a step.
        """
        with self._heartbeat.holding(claimed.claim, since=since) as lease:
            driven = self._driver.drive(claimed, lease, pace)
        self._aftermath.follow(driven)
        return driven.turn

    def wake(self, turn_ids: Sequence[TurnId]) -> None:
        """Dispatch turns; what cannot be sent now a sweep makes up for."""
        self._aftermath.wake(turn_ids)
