"""A way to PostgreSQL on which a connection can be lost at its commit."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Final

from sqlalchemy import URL, make_url

#: The statement as it is sent, with the byte that ends it: a transaction's beginning names a level
#: of isolation that has the same word in it.
COMMIT: Final = b"COMMIT\0"


class Loss(Enum):
    """When the next connection that commits is lost."""

    BEFORE = "before the server reads the commit"
    AFTER = "after the server has committed"
    LATER = "after the client was told, and with it every way to the server"


class Proxy:
    """Passes bytes on between clients and the server until it is told to lose a connection."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._armed: Loss | None = None
        self.losses = 0
        self.url = server.set(
            host="127.0.0.1", port=self._listener.getsockname()[1], query={}
        ).render_as_string(hide_password=False)

    def lose_next_commit(self, loss: Loss) -> None:
        self._armed = loss

    def serve(self) -> None:
        """Accept clients until the proxy is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=[client], daemon=True).start()

    def close(self) -> None:
        """Take no more clients; those that are being served are not disturbed."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _relay(self, client: socket.socket) -> None:
        with client, self._connect() as server:
            loss: Loss | None = None
            for source, data in _traffic(client, server):
                if source is client:
                    loss = self._loss_of(data)
                if loss is Loss.BEFORE or (loss is Loss.AFTER and source is server):
                    return
                if loss is Loss.LATER and source is server:
                    self.close()
                    client.sendall(data)
                    return
                (server if source is client else client).sendall(data)

    def _loss_of(self, data: bytes) -> Loss | None:
        if COMMIT not in data or self._armed is None:
            return None
        loss, self._armed = self._armed, None
        self.losses += 1
        return loss

    def _connect(self) -> socket.socket:
        folder = self._server.query.get("host")
        port = self._server.port or 5432
        if isinstance(folder, str):
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(str(Path(folder) / f".s.PGSQL.{port}"))
            return upstream
        return socket.create_connection((self._server.host or "127.0.0.1", port))


def _traffic(client: socket.socket, server: socket.socket) -> Iterator[tuple[socket.socket, bytes]]:
    """Yield what either side says, until one of them hangs up."""
    with DefaultSelector() as selector:
        selector.register(client, EVENT_READ)
        selector.register(server, EVENT_READ)
        while True:
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(65536)
                if not data:
                    return
                yield key.fileobj, data


@contextmanager
def proxied(url: str) -> Iterator[Proxy]:
    proxy = Proxy(make_url(url))
    thread = threading.Thread(target=proxy.serve)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
