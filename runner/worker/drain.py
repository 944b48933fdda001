"""Lets go of a process's turns within its grace time."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Final, Protocol

from runner.core.clock import Clock

log = logging.getLogger(__name__)

#: Seconds kept for handing turns back and closing, when calls are given up before the end.
_RESERVE: Final = 3.0
#: How often executions are asked: one may have begun just when the last request went out.
_PERIOD: Final = 0.1
#: Seconds within which a second signal is an echo: whoever stops a process group reaches each
#: process directly and once more through its parent.
_ECHO: Final = 1.0


class Executions(Protocol):
    """The turns that a process works on."""

    @property
    def held(self) -> int: ...

    def ask_back(self, *, at_once: bool) -> None: ...


class Drain:
    """
    The end of a process.

    Once it has begun nothing new is started. Executions are asked to hand their turns back at the
    next boundary, shortly before the grace time is over at once, and when it is over the process
    ends whatever still runs: what is left then, leases and the next sweep take care of.
    """

    def __init__(
        self,
        executions: Callable[[], Executions],
        *,
        grace: float,
        clock: Clock,
        end_process: Callable[[int], None],
    ) -> None:
        self._executions = executions
        self._grace = grace
        self._clock = clock
        self._end_process = end_process
        self._began_at: float | None = None
        self._give_up_at = float("inf")

    @property
    def has_begun(self) -> bool:
        return self._began_at is not None

    def begin(self) -> None:
        """Stop starting things and ask for the turns; more than once does no more."""
        if self._began_at is not None:
            return
        self._began_at = self._clock.monotonic()
        self._give_up_at = self._began_at + self._grace - min(_RESERVE, self._grace / 2)
        log.info("stopping", extra={"grace": self._grace})
        Thread(target=self._run, name="runner-drain", daemon=True).start()

    def insist(self) -> None:
        """Give up what runs now, unless this is only an echo of the request that began it."""
        now = self._clock.monotonic()
        if self._began_at is not None and now > self._began_at + _ECHO:
            self._give_up_at = now

    def _run(self) -> None:
        executions = self._executions()
        end_at = (self._began_at or 0) + self._grace
        pause = Event()
        while (now := self._clock.monotonic()) < end_at:
            executions.ask_back(at_once=now >= self._give_up_at)
            pause.wait(_PERIOD)
        if executions.held:
            log.error("grace time is over; turns are left to their leases")
        self._end_process(1 if executions.held else 0)
