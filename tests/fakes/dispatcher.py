"""Dispatchers that send nowhere."""

from collections.abc import Sequence

from runner.core.errors import DispatchFailed
from runner.core.ids import TurnId


class FakeDispatcher:
    """Remembers what it was asked to wake."""

    def __init__(self) -> None:
        self.sent: list[TurnId] = []

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        self.sent += turn_ids

    def close(self) -> None:
        """Nothing is open."""


class BrokenDispatcher:
    """Has a broker that is down."""

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        raise DispatchFailed(f"cannot wake {len(turn_ids)} turns: the broker is down")

    def close(self) -> None:
        """Nothing is open."""
