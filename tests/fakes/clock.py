"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    def __init__(self) -> None:
        self._now = datetime(2026, 3, 2, 12, tzinfo=UTC)
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
