"""A claim as its own execution sees it: still held, or not."""

from datetime import timedelta
from threading import Event, Lock

from runner.core.clock import Clock
from runner.core.errors import ClaimLost, HandBack
from runner.core.records import Claim
from runner.tools.cancel import StopSignal


class Lease:
    """
    How long an execution may trust its claim without asking the database.

    The lease in the database ends by the database's clock. Here it is measured from before the
    statement that granted it, and ends a margin early, so that an execution whose heartbeats fail
    has stopped before anyone may take its turn over.
    """

    def __init__(self, claim: Claim, *, length: timedelta, clock: Clock, since: float) -> None:
        self.claim = claim
        #: Given when whatever is running for this claim has to end at once.
        self.stop = StopSignal()
        self._seconds = length.total_seconds() * 0.8
        self._clock = clock
        self._trusted_until = since + self._seconds
        self._lost = Event()
        self._asked_back = Event()
        self._lock = Lock()

    def extend(self, *, since: float) -> None:
        """Trust the claim for another lease, counted from *since*, unless it was lost."""
        with self._lock:
            self._trusted_until = max(self._trusted_until, since + self._seconds)

    def lose(self) -> None:
        """Say that the claim is someone else's; more than once does no more."""
        if self._lost.is_set():
            return
        self._lost.set()
        self.stop.stop(self._claim_lost())

    def ask_back(self, *, at_once: bool) -> None:
        """Ask for the turn at its next boundary, or *at_once* with the current call given up."""
        self._asked_back.set()
        if at_once:
            self.stop.stop(_hand_back())

    @property
    def is_over(self) -> bool:
        with self._lock:
            return self._lost.is_set() or self._clock.monotonic() >= self._trusted_until

    def check(self) -> None:
        """
        Return if the execution may go on.

        Raises:
            ClaimLost: It may not write any more, nor have any effect.
            HandBack: It is asked to let go of the turn.
        """
        if self.is_over:
            self.lose()
            raise self._claim_lost()
        if self._asked_back.is_set():
            raise _hand_back()

    def _claim_lost(self) -> ClaimLost:
        return ClaimLost(f"the claim on {self.claim.turn_id} is no longer held")


def _hand_back() -> HandBack:
    return HandBack("the worker is stopping")
