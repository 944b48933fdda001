"""A connection that was checked before it was made, and that can be cut from outside."""

import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock

from runner.core.errors import OutboundError, OutboundTimeout
from runner.outbound.limit import Limit


class Line:
    """The connection of one exchange."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self.is_cut = False

    def take(self, connection: socket.socket) -> None:
        """Be this connection from now on."""
        with self._lock:
            self._socket = connection
            if self.is_cut:
                self._shut_down()

    def cut(self) -> None:
        """End it; whoever waits for it wakes up."""
        with self._lock:
            self.is_cut = True
            self._shut_down()

    def close(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Closing would not wake a thread that reads; and the encryption has no say in it.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@contextmanager
def connected(
    addresses: Sequence[str],
    port: int,
    *,
    host: str,
    trust: ssl.SSLContext | None,
    limit: Limit,
) -> Iterator[socket.socket]:
    """
    Connect to the first of *addresses* that answers, as *host*, and hang up at the limit.

    Args:
        addresses: Addresses, not names: nothing is looked up again.
        port: Where.
        host: The name that a certificate must be for.
        trust: What certificates are held against; None for a connection without encryption.
        limit: How long it may last.

    Raises:
        OutboundTimeout: The time is up.
        OutboundCancelled: Nobody wants it any more.
        OutboundError: None answers, or the certificate is not the host's.
    """
    line = Line()
    with limit.ending(line.cut):
        try:
            plain = _connect(addresses, port, host, limit)
            line.take(plain)
            if trust is None:
                yield plain
            else:
                yield _encrypted(plain, line, host, trust)
            if line.is_cut:
                # What came by then looks as if the other side had ended it.
                limit.check()
                raise OutboundTimeout("its time was up")
        finally:
            line.close()


def _connect(addresses: Sequence[str], port: int, host: str, limit: Limit) -> socket.socket:
    for address in addresses:
        limit.check()
        with suppress(OSError):
            return socket.create_connection((address, port), timeout=limit.left or None)
    limit.check()
    raise OutboundError(f"the host {host!r} does not answer")


def _encrypted(plain: socket.socket, line: Line, host: str, trust: ssl.SSLContext) -> ssl.SSLSocket:
    encrypted = trust.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
    line.take(encrypted)
    try:
        encrypted.do_handshake()
    except ssl.SSLCertVerificationError as error:
        raise OutboundError(f"the host {host!r} has no certificate that is trusted") from error
    return encrypted
