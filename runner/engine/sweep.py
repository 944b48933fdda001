"""The sweep: finds, by predicate alone, what a crash or a lost wake-up left behind."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from runner.core.errors import DispatchFailed, RunnerError
from runner.core.ids import TurnId
from runner.core.ports import Dispatcher, Sweeps

log = logging.getLogger(__name__)

_BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """What one sweep found and did."""

    #: Turns whose worker had died, now pending again.
    released: Sequence[TurnId] = ()
    #: Turns that held no worker and whose time is over, now pending so that they fail.
    overdue: Sequence[TurnId] = ()
    #: Turns that waited for turns which have all ended.
    joined: Sequence[TurnId] = ()
    #: Turns of which an approval was not answered in time.
    expired: Sequence[TurnId] = ()
    #: Turns freed by failing one whose time was over before it started.
    freed: Sequence[TurnId] = ()
    #: Turns that answer a callback which was still owed.
    called_back: Sequence[TurnId] = ()
    #: Pending turns that were due and got a wake-up.
    due: Sequence[TurnId] = ()
    #: What went wrong; the rest of the sweep was done all the same.
    errors: Sequence[str] = ()

    @property
    def dispatched(self) -> tuple[TurnId, ...]:
        """Every turn that is to be worked on, once each."""
        waiting = (self.overdue, self.joined, self.expired)
        found = (self.released, *waiting, self.freed, self.called_back, self.due)
        return tuple(dict.fromkeys(turn_id for part in found for turn_id in part))


class Sweeper:
    """Repairs the store in bounded batches; running it twice, or twice at once, does no harm."""

    def __init__(
        self,
        sweeps: Sweeps,
        dispatcher: Dispatcher,
        *,
        settle_callbacks: Callable[[int], Sequence[TurnId]],
    ) -> None:
        """
        Make a sweeper.

        Args:
            sweeps: The store's repairs.
            dispatcher: Wakes what is ready.
            settle_callbacks: Delivers up to so many callbacks that are still owed, and returns the
                turns that answer them.
        """
        self._sweeps = sweeps
        self._settle_callbacks = settle_callbacks
        self._dispatcher = dispatcher

    def sweep(self, *, quiet: timedelta | None) -> SweepReport:
        """
        Repair one batch of everything and dispatch what is ready.

        Args:
            quiet: How long a turn must have been due to count as forgotten; zero takes all, and
                None leaves them to whoever looks for them himself.
        """
        errors: list[str] = []
        sweeps = self._sweeps
        report = SweepReport(
            released=_attempt(lambda: sweeps.release_expired(limit=_BATCH), errors),
            overdue=_attempt(lambda: sweeps.release_overdue(limit=_BATCH), errors),
            expired=_attempt(lambda: sweeps.expire_approvals(limit=_BATCH), errors),
            joined=_attempt(lambda: sweeps.release_joined(limit=_BATCH), errors),
            freed=_attempt(lambda: sweeps.fail_overdue(limit=_BATCH), errors),
            called_back=_attempt(lambda: self._settle_callbacks(_BATCH), errors),
            due=_attempt(lambda: self._due(quiet), errors),
        )
        try:
            self._dispatcher.dispatch(report.dispatched)
        except DispatchFailed as error:
            errors.append(str(error))
        return replace(report, errors=tuple(errors))

    def _due(self, quiet: timedelta | None) -> Sequence[TurnId]:
        return () if quiet is None else self._sweeps.due(limit=_BATCH, quiet=quiet)


def _attempt(part: Callable[[], Sequence[TurnId]], errors: list[str]) -> Sequence[TurnId]:
    """Run one part of the sweep, so that its failure does not keep the others from running."""
    try:
        return part()
    except RunnerError as error:
        log.warning("sweep failed", extra={"error": str(error)})
        errors.append(str(error))
        return ()
