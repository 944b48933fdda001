"""Doing several things at the same moment."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Act: TypeAlias = Callable[[], object]

#: Seconds; only a test that fails waits that long.
_PATIENCE = 60.0


def race(acts: Sequence[Callable[[], T]]) -> list[T]:
    """Do these in threads that begin together, and return what each returned, in their order."""
    start = Barrier(len(acts))

    def begin(act: Callable[[], T]) -> T:
        start.wait(_PATIENCE)
        return act()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(begin, acts))


def unless(refusal: type[BaseException], act: Act) -> Callable[[], bool]:
    """Make an act that tells whether it was done, where *refusal* is what it may meet instead."""

    def attempt() -> bool:
        try:
            act()
        except refusal:
            return False
        return True

    return attempt
