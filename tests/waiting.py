"""Waiting for what another process does."""

from collections.abc import Callable
from threading import Event
from time import monotonic

_PERIOD = 0.03
#: Seconds; only a test that fails waits that long.
_PATIENCE = 90.0


def until(condition: Callable[[], object], what: str, *, patience: float = _PATIENCE) -> None:
    """
    Return as soon as *condition* holds.

    Raises:
        AssertionError: It did not come to hold; the message says *what* was waited for.
    """
    give_up_at = monotonic() + patience
    while not condition():
        assert monotonic() < give_up_at, f"waited {patience:g} seconds for: {what}"
        Event().wait(_PERIOD)
