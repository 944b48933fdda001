"""Time, as something that can be handed in."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """
    What a process may know of time.

    Leases, due times and deadlines are the database's; a process only measures how long things
    take, and dates what a model reads.
    """

    def now(self) -> datetime: ...

    def monotonic(self) -> float:
        """Return seconds that never go back, from an arbitrary start."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place that asks the system

    def monotonic(self) -> float:
        return time.monotonic()
