from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from runner.cli.looks import looks
from runner.core.ids import TurnId
from runner.core.records import Event, Turn
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import NOON, TURN, turn

CHILD = TurnId("turn_2")


def event(number: int, turn_id: TurnId = TURN) -> Event:
    return Event(id=number, turn_id=turn_id, kind="turn.started", body={}, at=NOON)


@dataclass
class Stored:
    """A tree that a test moves on between two looks, of which a read gives two events at most."""

    turns: list[Turn]
    all_events: list[Event] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def tree(self, turn_id: str) -> Sequence[Turn]:
        assert turn_id == TURN
        return tuple(self.turns)

    def events(self, turn_id: str, *, after: int = 0) -> Sequence[Event]:
        self.asked.append(turn_id)
        own = [one for one in self.all_events if one.turn_id == turn_id and one.id > after]
        return own[:2]


def ids_of(
    stored: Stored, *changes: Callable[[Stored], None]
) -> Iterator[tuple[Sequence[int], int]]:
    """Look with a change before each further look, and yield what events and turns were seen."""
    left = list(changes)
    for look in looks(stored, TURN):
        yield [one.id for one in look.events], len(look.turns)
        if left:
            left.pop(0)(stored)


def end(stored: Stored) -> None:
    stored.turns[0] = replace(stored.turns[0], status=TurnStatus.COMPLETED)
    stored.all_events.append(event(9))


def launch(stored: Stored) -> None:
    stored.turns.append(turn(TurnStatus.RUNNING, turn_id=CHILD, parent=TURN))
    stored.all_events += [event(3, CHILD), event(4)]
    stored.turns[0] = replace(stored.turns[0], step=1)


def test_a_tree_is_looked_at_until_its_top_has_ended() -> None:
    stored = Stored([turn(TurnStatus.RUNNING)], [event(1), event(2)])

    seen = list(ids_of(stored, launch, end))

    assert seen == [([1, 2], 1), ([3, 4], 2), ([9], 2)]


def test_events_are_read_however_many_there_are() -> None:
    stored = Stored([turn(TurnStatus.COMPLETED)], [event(number) for number in range(1, 6)])

    assert list(ids_of(stored)) == [([1, 2, 3, 4, 5], 1)]


def test_events_of_all_turns_come_in_the_order_they_were_stored_in() -> None:
    child = turn(TurnStatus.RUNNING, turn_id=CHILD, parent=TURN)
    stored = Stored(
        [turn(TurnStatus.COMPLETED), child],
        [event(1), event(2, CHILD), event(3), event(4, CHILD)],
    )

    assert list(ids_of(stored)) == [([1, 2, 3, 4], 2)]


def test_a_turn_that_did_not_change_is_not_asked_for_its_events() -> None:
    stored = Stored([turn(TurnStatus.RUNNING), turn(TurnStatus.COMPLETED, turn_id=CHILD)])

    def renew(stored: Stored) -> None:
        later = NOON + timedelta(minutes=1)
        stored.turns[0] = replace(stored.turns[0], lease_expires_at=later)

    assert list(ids_of(stored, renew, end)) == [([], 2), ([], 2), ([9], 2)]
    assert stored.asked == [TURN, CHILD, TURN, TURN]
