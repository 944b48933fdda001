"""The end of a turn's time, measured in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer

from runner.core.clock import Clock
from runner.core.tooling import Cancellation
from runner.tools.cancel import CancelFlag


class Deadline:
    """
    When a turn's time is over.

    The database says how much was left when the turn was claimed; from then on only the length
    of what happens here matters, so the clocks of two machines are never compared.
    """

    def __init__(self, seconds_left: float, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.monotonic() + seconds_left

    @property
    def seconds_left(self) -> float:
        return self._at - self._clock.monotonic()

    @contextmanager
    def limiting(self, stop: Cancellation) -> Iterator[CancelFlag]:
        """Give a flag that is set when *stop* is, and when the time is over."""
        flag = CancelFlag()
        unsubscribe = stop.subscribe(flag.set)
        timer = Timer(max(self.seconds_left, 0), flag.set)
        timer.daemon = True
        timer.start()
        try:
            yield flag
        finally:
            timer.cancel()
            unsubscribe()

    def wait(self, seconds: float, stop: Cancellation) -> None:
        """Wait, but no longer than until *stop* is set or the time is over."""
        woken = Event()
        unsubscribe = stop.subscribe(woken.set)
        woken.wait(max(min(seconds, self.seconds_left), 0))
        unsubscribe()
