import socket
from collections.abc import Iterator

import pytest

from runner.clients.anthropic.hangup import Call, HangUp

Pair = tuple[socket.socket, socket.socket]


class Connection:
    """A connection as the HTTP library hands it over."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def get_extra_info(self, info: str) -> object:
        return self._end if info == "socket" else None


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(60)
        yield near, far


def test_a_call_is_ended_at_its_connection(pair: Pair) -> None:
    call = Call()
    call.trace("connection.connect_tcp.complete", {"return_value": Connection(pair[0])})

    call.hang_up(HangUp.CANCELLED)

    assert pair[0].recv(1) == b""


def test_a_call_that_ends_while_it_connects_is_ended_once_it_has(pair: Pair) -> None:
    call = Call()
    call.trace("connection.connect_tcp.started", {"host": "x"})
    call.hang_up(HangUp.CANCELLED)

    call.trace("connection.start_tls.complete", {"return_value": Connection(pair[0])})

    assert pair[0].recv(1) == b""


def test_the_first_reason_is_the_one_that_counts() -> None:
    call = Call()

    call.hang_up(HangUp.OUT_OF_TIME)
    call.hang_up(HangUp.CANCELLED)

    assert call.reason is HangUp.OUT_OF_TIME


def test_a_call_whose_connection_is_gone_is_ended_all_the_same(pair: Pair) -> None:
    call = Call()
    call.trace("connection.connect_tcp.complete", {"return_value": Connection(pair[0])})
    pair[0].close()

    call.hang_up(HangUp.CANCELLED)

    assert call.reason is HangUp.CANCELLED


@pytest.mark.parametrize("stream", [None, object()])
def test_a_connection_without_a_socket_is_let_be(stream: object) -> None:
    call = Call()

    call.trace("connection.connect_tcp.complete", {"return_value": stream})
    call.hang_up(HangUp.CANCELLED)

    assert call.reason is HangUp.CANCELLED
