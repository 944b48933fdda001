"""Looks at a tree of turns again and again, whoever runs them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event as Signal
from typing import Final, Protocol

from runner.core.ids import TurnId
from runner.core.records import Event, Turn

#: Seconds between two looks: more, the longer nothing happens.
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5
_GROWTH: Final = 1.5


class TreeSource(Protocol):
    """Where a tree is looked up."""

    def tree(self, turn_id: str) -> Sequence[Turn]: ...

    def events(self, turn_id: str, *, after: int = 0) -> Sequence[Event]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A tree as it is, and what happened in it since the look before."""

    #: Parents before children, in order of launch.
    turns: Sequence[Turn]
    #: In the order in which they were stored.
    events: Sequence[Event]


def looks(source: TreeSource, turn_id: str) -> Iterator[Look]:
    """
    Yield looks at a turn and everything below it, until the turn has ended.

    Raises:
        NotFound: There is no such turn.
    """
    watched = _Watched(source)
    pause = _SHORTEST_PAUSE
    while True:
        # Read before the events: once a turn has ended, no event of it can follow.
        turns = source.tree(turn_id)
        events = watched.new_events(turns)
        yield Look(turns=turns, events=events)
        if turns[0].status.is_ended:
            return
        pause = _SHORTEST_PAUSE if events else min(pause * _GROWTH, _LONGEST_PAUSE)
        Signal().wait(pause)


def all_events(source: TreeSource, turn_id: str, *, after: int = 0) -> Iterator[Event]:
    """Yield a turn's events with an id above *after*, however many."""
    while batch := source.events(turn_id, after=after):
        yield from batch
        after = batch[-1].id


class _Watched:
    """What is known of a tree, so that only turns that changed are asked for their events."""

    def __init__(self, source: TreeSource) -> None:
        self._source = source
        self._known: Mapping[TurnId, Turn] = {}
        self._seen = dict[TurnId, int]()

    def new_events(self, turns: Sequence[Turn]) -> Sequence[Event]:
        # An event is stored with a change of its turn; a lease that was renewed is none.
        now = {turn.id: replace(turn, lease_expires_at=None) for turn in turns}
        found = list[Event]()
        for turn_id, turn in now.items():
            if self._known.get(turn_id) != turn:
                found += all_events(self._source, turn_id, after=self._seen.get(turn_id, 0))
        self._known = now
        for event in found:
            self._seen[event.turn_id] = event.id
        return sorted(found, key=lambda event: event.id)
