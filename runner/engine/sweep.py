"""The sweep: finds, by predicate alone, what a crash or a lost wake-up left behind."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

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
    #: Turns freed by failing one whose time was over before it started.
    freed: Sequence[TurnId] = ()
    #: Pending turns that were due and got a wake-up.
    due: Sequence[TurnId] = ()
    #: What went wrong; the rest of the sweep was done all the same.
    errors: Sequence[str] = ()

    @property
    def dispatched(self) -> tuple[TurnId, ...]:
        """Every turn that is to be worked on, once each."""
        return tuple(dict.fromkeys((*self.released, *self.freed, *self.due)))


class Sweeper:
    """Repairs the store in bounded batches; running it twice, or twice at once, does no harm."""

    def __init__(self, sweeps: Sweeps, dispatcher: Dispatcher) -> None:
        self._sweeps = sweeps
        self._dispatcher = dispatcher

    def sweep(self, *, quiet: timedelta | None) -> SweepReport:
        """
        Repair one batch of everything and dispatch what is ready.

        Args:
            quiet: How long a turn must have been due to count as forgotten; zero takes all, and
                None leaves them to whoever looks for them himself.
        """
        errors: list[str] = []
        released = _attempt(lambda: self._sweeps.release_expired(limit=_BATCH), errors)
        freed = _attempt(lambda: self._sweeps.fail_overdue(limit=_BATCH), errors)
        due: Sequence[TurnId] = ()
        if quiet is not None:
            due = _attempt(partial(self._sweeps.due, limit=_BATCH, quiet=quiet), errors)
        report = SweepReport(released=released, freed=freed, due=due)
        try:
            self._dispatcher.dispatch(report.dispatched)
        except DispatchFailed as error:
            errors.append(str(error))
        return SweepReport(released=released, freed=freed, due=due, errors=tuple(errors))


def _attempt(part: Callable[[], Sequence[TurnId]], errors: list[str]) -> Sequence[TurnId]:
    """Run one part of the sweep, so that its failure does not keep the others from running."""
    try:
        return part()
    except RunnerError as error:
        log.warning("sweep failed", extra={"error": str(error)})
        errors.append(str(error))
        return ()
