"""Follows a turn through the store, whoever runs it."""

from collections.abc import Iterator
from datetime import timedelta
from threading import Event as Signal

from runner.core.clock import Clock
from runner.core.ids import TurnId
from runner.core.ports import Views
from runner.core.records import Event, Turn

_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 0.5


class Follower:
    """Looks at a turn again and again, less often the longer nothing happens."""

    def __init__(self, views: Views, clock: Clock) -> None:
        self._views = views
        self._clock = clock

    def events(self, turn_id: TurnId, *, timeout: timedelta | None) -> Iterator[Event]:
        """
        Yield events until the turn has ended.

        Raises:
            NotFound: There is no such turn.
            TimeoutError: It had not ended after *timeout*.
        """
        give_up_at = self._give_up_at(timeout)
        seen, pause = 0, _SHORTEST_PAUSE
        while True:
            # Asked before the events are read: once it has ended, no event can follow.
            ended = self._views.turn(turn_id).status.is_ended
            events = self._views.events(turn_id, after=seen)
            yield from events
            if events:
                seen, pause = events[-1].id, _SHORTEST_PAUSE
            elif ended:
                return
            else:
                pause = self._pause(turn_id, pause, give_up_at)

    def wait(self, turn_id: TurnId, *, timeout: timedelta | None) -> Turn:
        """
        Return the turn once it has ended.

        Raises:
            NotFound: There is no such turn.
            TimeoutError: It had not ended after *timeout*.
        """
        give_up_at = self._give_up_at(timeout)
        pause = _SHORTEST_PAUSE
        while True:
            turn = self._views.turn(turn_id)
            if turn.status.is_ended:
                return turn
            pause = self._pause(turn_id, pause, give_up_at)

    def _give_up_at(self, timeout: timedelta | None) -> float:
        if timeout is None:
            return float("inf")
        return self._clock.monotonic() + timeout.total_seconds()

    def _pause(self, turn_id: TurnId, seconds: float, give_up_at: float) -> float:
        """Wait a little and return how long to wait next time."""
        left = give_up_at - self._clock.monotonic()
        if left <= 0:
            raise TimeoutError(f"turn {turn_id} has not ended in time; it goes on")
        Signal().wait(min(seconds, left))
        return min(seconds * 1.5, _LONGEST_PAUSE)
