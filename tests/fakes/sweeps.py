"""A store's repairs, as told."""

from collections.abc import Sequence
from datetime import timedelta

from runner.core.errors import StoreUnavailable
from runner.core.ids import TurnId


class FakeSweeps:
    """Says that the turns it was given are due, expired or freed."""

    def __init__(self) -> None:
        self.pending: list[TurnId] = []
        self.expired: list[TurnId] = []
        self.freed: list[TurnId] = []
        self.is_down = False
        #: What `due` was asked for.
        self.asked: list[tuple[int, timedelta]] = []

    def release_expired(self, *, limit: int) -> Sequence[TurnId]:
        self._answer()
        released, self.expired = self.expired[:limit], self.expired[limit:]
        self.pending += released
        return released

    def release_overdue(self, *, limit: int) -> Sequence[TurnId]:
        self._answer()
        return []

    def release_joined(self, *, limit: int) -> Sequence[TurnId]:
        self._answer()
        return []

    def expire_approvals(self, *, limit: int) -> Sequence[TurnId]:
        self._answer()
        return []

    def fail_overdue(self, *, limit: int) -> Sequence[TurnId]:
        self._answer()
        return self.freed[:limit]

    def due(self, *, limit: int, quiet: timedelta) -> Sequence[TurnId]:
        self._answer()
        self.asked.append((limit, quiet))
        return self.pending[:limit]

    def unattended(self, *, limit: int) -> Sequence[tuple[TurnId, str]]:
        self._answer()
        return []

    def _answer(self) -> None:
        if self.is_down:
            raise StoreUnavailable("the database does not answer")
