"""How long something outside the process may take, and who may end it before."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import TIMEOUT_MAX, Event, Thread, Timer
from typing import Generic, TypeVar

from runner.core.clock import Clock
from runner.core.errors import OutboundCancelled, OutboundTimeout
from runner.core.tooling import Cancellation

T = TypeVar("T")


class Limit:
    """One time limit over all that is done for one purpose, however many steps that takes."""

    def __init__(self, seconds: float, cancelled: Cancellation, clock: Clock) -> None:
        self._clock = clock
        self._cancelled = cancelled
        self._until = clock.monotonic() + seconds
        self._seconds = seconds

    @property
    def left(self) -> float:
        """Seconds until the time is up; never negative, and never more than can be waited for."""
        return min(max(self._until - self._clock.monotonic(), 0.0), TIMEOUT_MAX)

    def check(self) -> None:
        """
        Return if there is time left and the end is still wanted.

        Raises:
            OutboundTimeout: The time is up.
            OutboundCancelled: Nobody wants it any more.
        """
        if self._cancelled.is_set():
            raise OutboundCancelled("it was given up")
        if not self.left:
            raise OutboundTimeout(f"it took longer than {self._seconds:g} s")

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """
        Call *end*, from another thread, should the time be up or the end not be wanted any more.

        It may be called twice, and while the block is just being left.
        """
        timer = Timer(self.left, end)
        timer.daemon = True
        timer.start()
        unsubscribe = self._cancelled.subscribe(end)
        try:
            yield
        finally:
            unsubscribe()
            timer.cancel()

    def run(self, work: Callable[[], T], *, name: str) -> T:
        """
        Do *work* in a thread of its own and return what it returns, within the limit.

        Past that it may go on in its thread, and nobody listens to it any more.

        Raises:
            OutboundTimeout: The time is up.
            OutboundCancelled: Nobody wants it any more.
            BaseException: Whatever *work* raised.
        """
        return self.start(work, name=name).result()

    def start(self, work: Callable[[], T], *, name: str) -> "Job[T]":
        """Begin *work* in a thread of its own, unless it is too late for that."""
        job = Job(work, self)
        job.begin(name)
        return job


class Job(Generic[T]):
    """Work in a thread of its own."""

    def __init__(self, work: Callable[[], T], limit: Limit) -> None:
        self._work = work
        self._limit = limit
        self._woken = Event()
        self._results: list[T] = []
        self._errors: list[BaseException] = []

    def begin(self, name: str) -> None:
        run: Callable[[Callable[[], None]], None] = copy_context().run
        Thread(target=run, args=(self._run,), name=name, daemon=True).start()

    def result(self) -> T:
        """
        Wait for the end.

        Raises:
            OutboundTimeout: The time is up.
            OutboundCancelled: Nobody wants it any more.
            BaseException: Whatever the work raised.
        """
        with self._limit.ending(self._woken.set):
            self._woken.wait()
        if self._errors:
            raise self._errors[0]
        if self._results:
            return self._results[0]
        self._limit.check()
        # The timer came a moment early.
        raise OutboundTimeout("its time was up")

    def _run(self) -> None:
        # Whatever foreign code raises is its own error, the ends of threads and programs included.
        try:
            self._limit.check()
            self._results.append(self._work())
        except BaseException as error:  # noqa: BLE001 - see above
            self._errors.append(error)
        self._woken.set()
