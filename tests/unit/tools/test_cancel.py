import threading
from collections.abc import Callable

import pytest

from runner.core.errors import ClaimLost, HandBack
from runner.tools.cancel import CancelFlag, StopSignal

PATIENCE = 60


def test_a_new_flag_is_not_set() -> None:
    assert not CancelFlag().is_set()


def test_setting_a_flag_calls_everyone_who_asked_in_order_and_once() -> None:
    flag = CancelFlag()
    calls = list[str]()
    flag.subscribe(lambda: calls.append("first"))
    flag.subscribe(lambda: calls.append("second"))

    flag.set()
    flag.set()

    assert flag.is_set()
    assert calls == ["first", "second"]


def test_who_asks_after_the_flag_was_set_is_called_at_once() -> None:
    flag = CancelFlag()
    flag.set()
    calls = list[str]()

    unsubscribe = flag.subscribe(lambda: calls.append("late"))
    unsubscribe()

    assert calls == ["late"]


def test_who_has_unsubscribed_is_not_called() -> None:
    flag = CancelFlag()
    calls = list[str]()
    unsubscribe = flag.subscribe(lambda: calls.append("gone"))
    flag.subscribe(lambda: calls.append("still there"))

    unsubscribe()
    unsubscribe()
    flag.set()

    assert calls == ["still there"]


def test_a_callback_that_raises_keeps_no_other_from_being_called() -> None:
    flag = CancelFlag()
    calls = list[str]()

    def fail() -> None:
        raise RuntimeError("broken callback")

    flag.subscribe(fail)
    flag.subscribe(lambda: calls.append("second"))

    with pytest.raises(RuntimeError, match="broken callback"):
        flag.set()

    assert flag.is_set()
    assert calls == ["second"]


def test_a_callback_may_subscribe_and_unsubscribe() -> None:
    flag = CancelFlag()
    calls = list[str]()
    unsubscribe: Callable[[], None] = flag.subscribe(lambda: calls.append("other"))

    def nest() -> None:
        unsubscribe()
        flag.subscribe(lambda: calls.append("nested"))

    flag.subscribe(nest)

    flag.set()

    assert sorted(calls) == ["nested", "other"]


def test_every_subscriber_is_called_once_however_many_threads_set_and_subscribe() -> None:
    flag = CancelFlag()
    start = threading.Barrier(9)
    called = [list[int]() for _ in range(8)]

    def subscribe(index: int) -> None:
        start.wait(PATIENCE)
        for _ in range(200):
            flag.subscribe(lambda: called[index].append(1))

    def set_it() -> None:
        start.wait(PATIENCE)
        flag.set()

    threads = [threading.Thread(target=subscribe, args=(index,)) for index in range(8)]
    threads.append(threading.Thread(target=set_it))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert [len(calls) for calls in called] == [200] * 8


def test_a_signal_that_was_not_given_raises_nothing() -> None:
    signal = StopSignal()

    signal.check()

    assert not signal.is_set()


def test_the_first_order_to_stop_is_the_one_that_is_raised() -> None:
    signal = StopSignal()
    calls = list[str]()
    signal.subscribe(lambda: calls.append("told"))

    signal.stop(ClaimLost("taken over"))
    signal.stop(HandBack("stopping"))

    assert signal.is_set()
    assert calls == ["told"]
    with pytest.raises(ClaimLost, match="taken over"):
        signal.check()
