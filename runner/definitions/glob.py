"""Patterns in which a `*` stands for any characters, and nothing else stands for anything."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern, taken apart once; matching takes time proportional to the text."""

    head: str
    #: What has to follow in this order.
    middle: tuple[str, ...]
    #: None where the pattern has no `*` and the text has to be the head.
    tail: str | None

    @classmethod
    def of(cls, pattern: str) -> Self:
        head, *rest = pattern.split("*")
        if not rest:
            return cls(head=head, middle=(), tail=None)
        return cls(head=head, middle=tuple(part for part in rest[:-1] if part), tail=rest[-1])

    def matches(self, text: str) -> bool:
        if self.tail is None:
            return text == self.head
        if not text.startswith(self.head) or not text.endswith(self.tail):
            return False
        place, end = len(self.head), len(text) - len(self.tail)
        if end < place:
            return False
        for part in self.middle:
            found = text.find(part, place, end)
            if found < 0:
                return False
            place = found + len(part)
        return True


def covers(wider: str, narrower: str) -> bool:
    """Whether one pattern matches all that another does."""
    if wider == narrower or "*" not in wider:
        return wider == narrower
    # A star of the narrower one is a character that only a star of the wider one matches.
    return _known(wider).matches(narrower)


@lru_cache(maxsize=4_096)
def _known(pattern: str) -> Glob:
    return Glob.of(pattern)
