"""A way to a server that can be cut and mended."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Relay:
    """Passes bytes on between clients and a server, unless it is cut."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.port
        self._server = (parts.hostname or "127.0.0.1", parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_cut = False
        self._open = set[socket.socket]()
        self._lock = threading.Lock()
        user_info, at, _ = parts.netloc.rpartition("@")
        port = self._listener.getsockname()[1]
        self.url = parts._replace(netloc=f"{user_info}{at}127.0.0.1:{port}").geturl()

    def cut(self) -> None:
        """Hang up on everyone, and on whoever comes."""
        with self._lock:
            self._is_cut = True
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let clients through again."""
        with self._lock:
            self._is_cut = False

    def serve(self) -> None:
        """Take clients until the relay is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=[client], daemon=True).start()

    def close(self) -> None:
        self.cut()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server:
            pair = {client, server}
            with self._lock:
                if self._is_cut:
                    return
                self._open |= pair
            back = threading.Thread(target=_pass_on, args=[server, client], daemon=True)
            back.start()
            _pass_on(client, server)
            back.join()
            with self._lock:
                self._open -= pair


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes on until one side hangs up, and hang up on the other."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def relayed(url: str) -> Iterator[Relay]:
    relay = Relay(url)
    thread = threading.Thread(target=relay.serve)
    thread.start()
    try:
        yield relay
    finally:
        relay.close()
        thread.join()
