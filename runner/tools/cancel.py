"""Flags that one thread sets and others act on."""

import threading
from collections.abc import Callable
from contextlib import ExitStack

from runner.core.errors import Interruption


class CancelFlag:
    """A flag that is set once and never cleared, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._callbacks: dict[object, Callable[[], None]] = {}

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        """
        Set the flag and call everyone who asked, in this thread.

        One callback that raises keeps no other from being called.
        """
        with self._lock:
            self._set = True
            callbacks = tuple(self._callbacks.values())
            self._callbacks.clear()
        with ExitStack() as stack:
            for callback in reversed(callbacks):
                stack.callback(callback)

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """
        Call *callback* once when the flag is set, at once if it is already.

        Returns what ends the subscription; a callback that is being called just then still runs.
        """
        token = object()
        with self._lock:
            is_set = self._set
            if not is_set:
                self._callbacks[token] = callback
        if is_set:
            callback()
        return lambda: self._unsubscribe(token)

    def _unsubscribe(self, token: object) -> None:
        with self._lock:
            self._callbacks.pop(token, None)


class StopSignal:
    """
    An execution's order to end at once, and the interruption to end with.

    Whoever watches over the claim gives the order; the thread that runs the turn raises it. As a
    cancellation it can be handed to whatever that thread is waiting for.
    """

    def __init__(self) -> None:
        self._flag = CancelFlag()
        self._reasons: list[Interruption] = []

    def stop(self, reason: Interruption) -> None:
        """Order the execution to end with *reason*; the first order is the one that counts."""
        self._reasons.append(reason)
        self._flag.set()

    def is_set(self) -> bool:
        return self._flag.is_set()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See `CancelFlag.subscribe`."""
        return self._flag.subscribe(callback)

    def check(self) -> None:
        """
        Raise the interruption that was ordered, if any.

        Raises:
            Interruption: The execution is to end now.
        """
        if self._reasons:
            raise self._reasons[0]
