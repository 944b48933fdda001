import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from runner.worker.signals import on_stop_signals


@pytest.fixture
def calls() -> Iterator[list[str]]:
    """What was called, with a handler for SIGTERM that was there before."""
    calls: list[str] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def previous(_number: int, _frame: FrameType | None) -> None:
        calls.append("previous")

    signal.signal(signal.SIGTERM, previous)
    yield calls
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_first_signal_is_passed_on_and_later_ones_are_not(calls: list[str]) -> None:
    on_stop_signals(first=lambda: calls.append("first"), more=lambda: calls.append("more"))

    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGHUP):
        os.kill(os.getpid(), number)

    assert calls == ["first", "previous", "more", "more"]


def test_a_signal_that_was_ignored_before_is_not_passed_on(calls: list[str]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    on_stop_signals(first=lambda: calls.append("first"), more=lambda: calls.append("more"))

    os.kill(os.getpid(), signal.SIGTERM)

    assert calls == ["first"]
