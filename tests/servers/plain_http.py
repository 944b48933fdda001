"""A local HTTP server that answers as each test wants."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TypeAlias

#: What is done with a connection after a request was read from it.
Answering: TypeAlias = Callable[[socket.socket], None]


@dataclass(slots=True)
class PlainServer:
    """The server's address, and the heads of the requests it received."""

    host: str
    port: int
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


def says(body: str, *, status: str = "200 OK", head: str = "Content-Type: text/plain") -> Answering:
    data = body.encode()
    text = f"HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {len(data)}\r\n\r\n"
    return lambda connection: connection.sendall(text.encode() + data)


def raw(*pieces: bytes, pause: float = 0) -> Answering:
    """Send pieces with a pause between them, for as long as somebody listens."""

    def answer(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            Event().wait(pause)

    return answer


@contextmanager
def serving(
    *answers: Answering,
    host: str = "127.0.0.1",
    port: int = 0,
    family: int = socket.AF_INET,
    reads: bool = True,
) -> Iterator[PlainServer]:
    """Answer requests in turn, the last answer again and again; unread where *reads* is false."""
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
        server = PlainServer(host, listener.getsockname()[1])
        arguments = (listener, server, list(answers), reads)
        thread = Thread(target=_serve, args=arguments, daemon=True)
        thread.start()
        yield server
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def _serve(
    listener: socket.socket,
    server: PlainServer,
    answers: list[Answering],
    reads: bool,  # noqa: FBT001 - handed to a thread by place
) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            if reads:
                server.requests.append(_request(connection))
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            answer(connection)


def _request(connection: socket.socket) -> str:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return data.decode(errors="replace")
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    wanted = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < wanted:
        body += connection.recv(65_536)
    return (head + b"\r\n\r\n" + body).decode(errors="replace")
