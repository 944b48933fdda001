"""An observer that remembers."""

from runner.core.ids import TurnId
from runner.core.model import Delta
from runner.core.records import NewEvent


class FakeObserver:
    def __init__(self) -> None:
        self.events: list[NewEvent] = []
        self.deltas: list[Delta] = []

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        self.events.append(event)

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        self.deltas.append(delta)
