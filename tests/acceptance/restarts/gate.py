"""A way to a server that can be shut, and on which single statements can be lost."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path
from typing import Final, TypeAlias

from sqlalchemy import URL, make_url

_PORTS: Final = {"postgresql": 5432, "amqp": 5672}


class Passage(Enum):
    """What becomes of something that a client says."""

    FREE = auto()
    #: The connection is lost, and nobody reads what was said.
    BROKEN = auto()
    #: Nobody reads it, and nobody says so.
    SILENT = auto()


Rule: TypeAlias = Callable[[bytes], Passage]


class Gate:
    """Passes bytes on between clients and a server, which seems to be down while it is shut."""

    def __init__(self, server: URL, rule: Rule) -> None:
        self._server = server
        self._rule = rule
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._is_open = True
        self._connections = set[socket.socket]()
        self._lock = threading.Lock()
        self.url = server.set(
            host="127.0.0.1", port=self._listener.getsockname()[1], query={}
        ).render_as_string(hide_password=False)

    def kill(self) -> None:
        """Drop every connection and let nobody through."""
        with self._lock:
            self._is_open = False
            connections = list(self._connections)
        for connection in connections:
            _hang_up(connection)

    def start(self) -> None:
        """Let everyone through again."""
        self._is_open = True

    def serve(self) -> None:
        """Accept clients until the gate is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._let_in, args=[client], daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.kill()

    def _let_in(self, client: socket.socket) -> None:
        with client, suppress(OSError), self._connect() as server:
            pair = {client, server}
            with self._lock:
                if not self._is_open:
                    return
                self._connections |= pair
            back = threading.Thread(target=_pass_on, args=[server, client], daemon=True)
            back.start()
            _pass_on(client, server, self._rule)
            back.join()
            with self._lock:
                self._connections -= pair

    def _connect(self) -> socket.socket:
        folder = self._server.query.get("host")
        port = self._server.port or _PORTS[self._server.get_backend_name()]
        if isinstance(folder, str):
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(str(Path(folder) / f".s.PGSQL.{port}"))
            return upstream
        return socket.create_connection((self._server.host or "127.0.0.1", port))


@contextmanager
def gate_to(url: str, *, rule: Rule | None = None) -> Iterator[Gate]:
    """Lend an open gate to the server at *url*; *rule* says what passes once it is open."""
    gate = Gate(make_url(url), rule or _let_pass)
    thread = threading.Thread(target=gate.serve)
    thread.start()
    try:
        yield gate
    finally:
        gate.close()
        thread.join()


def _let_pass(_said: bytes) -> Passage:
    return Passage.FREE


def _pass_on(source: socket.socket, target: socket.socket, rule: Rule = _let_pass) -> None:
    """Pass on what *source* says until either side hangs up, then hang up on both."""
    with suppress(OSError):
        while said := source.recv(65536):
            match rule(said):
                case Passage.FREE:
                    target.sendall(said)
                case Passage.BROKEN:
                    break
                case Passage.SILENT:
                    continue
    _hang_up(source)
    _hang_up(target)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
