"""Ends a call from outside, also while it waits for the network."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from threading import Lock, Timer, local

import httpx2

from runner.core.tooling import Cancellation


class HangUp(StrEnum):
    """Why a call was ended from outside."""

    CANCELLED = "cancelled"  #: Nobody wants it any more.
    OUT_OF_TIME = "out_of_time"  #: It took longer than a call may.


class Call:
    """One call and the connection it uses."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._reason: HangUp | None = None

    @property
    def reason(self) -> HangUp | None:
        """Why it was ended from outside, or None."""
        return self._reason

    def hang_up(self, reason: HangUp) -> None:
        """End the call; the first reason stays. Whoever waits for its connection wakes up."""
        with self._lock:
            self._reason = self._reason or reason
            self._shut_down()

    def trace(self, name: str, info: dict[str, object]) -> None:
        """Take note of the connection, as soon as there is one."""
        if not name.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        connection = _socket_of(info.get("return_value"))
        with self._lock:
            self._socket = connection
            if self._reason:
                self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Closing would not wake a thread that reads; and the encryption has no say in it.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Switchboard:
    """
    Connects each call with the connection that is opened for it.

    Every call has a connection of its own, closed afterwards: a connection that is used again is
    not reported anew, so a call that waits on one could not be ended before its answer begins.
    """

    def __init__(self) -> None:
        self._this_thread = local()

    @contextmanager
    def call(self, cancelled: Cancellation, *, seconds: float) -> Iterator[Call]:
        """Open a call for this thread's next request; it may take *seconds* from now."""
        call = Call()
        clock = Timer(seconds, call.hang_up, [HangUp.OUT_OF_TIME])
        clock.daemon = True
        clock.start()
        unsubscribe = cancelled.subscribe(_hanging_up(call))
        self._this_thread.call = call
        try:
            yield call
        finally:
            self._this_thread.call = None
            unsubscribe()
            clock.cancel()

    def observe(self, request: httpx2.Request) -> None:
        """Have the connection of this thread's request reported to its call."""
        request.extensions = {**request.extensions, "trace": self._this_thread.call.trace}


def _hanging_up(call: Call) -> Callable[[], None]:
    return lambda: call.hang_up(HangUp.CANCELLED)


def _socket_of(stream: object) -> socket.socket | None:
    found = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
    return found if isinstance(found, socket.socket) else None
