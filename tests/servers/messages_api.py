"""A strict server of the Messages API that answers from a script."""

import argparse
import json
import secrets
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Final, TypeAlias

from typing_extensions import override

from tests.servers import replies, signatures
from tests.servers.event_stream import encode, events
from tests.servers.message_rules import first_fault
from tests.servers.prompt_cache import PromptCache
from tests.servers.replies import (
    Answer,
    Block,
    BreakOff,
    Cut,
    EndEarly,
    Json,
    Raw,
    Refusal,
    Reply,
    Stall,
)

_RESET: Final = struct.pack("ii", 1, 0)
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    #: The rule it broke, in the API's words; None when it was accepted.
    fault: str | None

    @property
    def body(self) -> Json:
        return json.loads(self.raw)


Script: TypeAlias = Sequence[Answer] | Callable[[Json], Answer]


@dataclass
class MessagesApi:
    """The server's state, and what tests ask of it."""

    script: Script
    url: str = ""
    requests: list[Received] = field(default_factory=list)
    #: Set once a scripted stall has begun.
    stalled: Event = field(default_factory=Event)
    #: Set once a client has closed its connection before the end of its answer.
    hung_up: Event = field(default_factory=Event)
    _answered: int = 0
    _cache: PromptCache = field(default_factory=PromptCache)
    _issued: dict[str, tuple[str, str, list[str]]] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    @property
    def refused(self) -> list[Received]:
        """The requests that broke a rule."""
        return [request for request in self.requests if request.fault]

    def wait_for_requests(self, number: int) -> None:
        """Wait until so many requests have come."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.requests) >= number, _PATIENCE)
        assert came, f"{len(self.requests)} of {number} requests came"

    def receive(self, path: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        """Check a request, keep it, and choose its answer."""
        refusal, body = self._checked(path, headers, raw)
        with self._changed:
            self.requests.append(
                Received(
                    path=path, headers=headers, raw=raw, fault=refusal.message if refusal else None
                )
            )
            self._changed.notify_all()
            return refusal or self._next(body)

    def complete(self, reply: Reply, body: Json) -> list[Block]:
        """Give the reply's blocks their ids, signatures and data."""
        seen = list(signatures.stream_of(body["messages"]))
        content: list[Block] = []
        for planned in reply.content:
            block = planned
            if block["type"] in {"tool_use", "server_tool_use"}:
                prefix = "toolu" if block["type"] == "tool_use" else "srvtoolu"
                block = {"id": f"{prefix}_{secrets.token_hex(8)}", **block}
            elif block["type"] in {"thinking", "redacted_thinking"}:
                before = signatures.before(body, seen)
                block = signatures.sign(block, model=body["model"], before=before)
            content.append(block)
            seen.extend(signatures.stream_of([{"role": "assistant", "content": [_bare(block)]}]))
        self._remember(body, content)
        return content

    def usage(self, body: Json) -> dict[str, int]:
        with self._changed:
            return {**self._cache.count(body), "output_tokens": 1}

    def _checked(
        self, path: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[Refusal | None, Json]:
        if path != "/v1/messages":
            return Refusal(status=404, type="not_found_error", message="Not found"), {}
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if not key:
            message = "x-api-key header is required"
            return Refusal(status=401, type="authentication_error", message=message), {}
        try:
            body = json.loads(raw.decode())
        except ValueError as error:
            return _invalid(f"The request body is not valid JSON: {error}"), {}
        fault = first_fault(body) or self._altered(body)
        if not headers.get("anthropic-version"):
            fault = "anthropic-version: header is required"
        elif not body.get("stream"):
            fault = "stream: this server only streams"
        return _invalid(fault) if fault else None, body

    def _next(self, body: Json) -> Answer:
        if callable(self.script):
            return self.script(body)
        if self._answered == len(self.script):
            return _invalid("The script has no more answers.")
        self._answered += 1
        return self.script[self._answered - 1]

    def _remember(self, body: Json, content: Sequence[Block]) -> None:
        thoughts = [signatures.token_of(b) for b in content if b["type"].endswith("thinking")]
        frame = signatures.digest(signatures.frame(body))
        for block in content:
            if block["type"] == "tool_use":
                self._issued[block["id"]] = (body["model"], frame, thoughts)

    def _altered(self, body: Json) -> str | None:
        """Say whether the response that is being answered comes back without its thinking."""
        responses = [m for m in body["messages"] if m["role"] == "assistant"]
        blocks = signatures.blocks_of(responses[-1]) if responses else []
        given = [signatures.token_of(b) for b in blocks if b["type"].endswith("thinking")]
        frame = signatures.digest(signatures.frame(body))
        for block in blocks:
            model, issued_frame, thoughts = self._issued.get(block.get("id", ""), ("", "", []))
            if (model, issued_frame) == (body["model"], frame) and not set(thoughts) <= set(given):
                return (
                    "`thinking` or `redacted_thinking` blocks in the latest assistant message "
                    "cannot be modified."
                )
        return None


@contextmanager
def messages_api(script: Script, *, port: int = 0) -> Iterator[MessagesApi]:
    """Serve *script* on a port of this machine for as long as the block lasts."""
    api = MessagesApi(script)
    server = _Server(api, port)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.hang_up()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, api: MessagesApi, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.api = api
        self.open = set[socket.socket]()

    def hang_up(self) -> None:
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def host(self) -> _Server:
        assert isinstance(self.server, _Server)
        return self.server

    @override
    def setup(self) -> None:
        super().setup()
        self.host.open.add(self.connection)

    @override
    def finish(self) -> None:
        self.host.open.discard(self.connection)
        with suppress(OSError):
            super().finish()

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: tests look at what was received."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.host.api.receive(self.path, headers, raw)
        try:
            self._answer(answer, raw)
        except ConnectionError:
            self.host.api.hung_up.set()

    def _answer(self, answer: Answer, raw: bytes) -> None:
        match answer:
            case Reply():
                self._stream(answer, json.loads(raw))
            case Refusal():
                self._refuse(answer)
            case Raw():
                self._send(answer.status, answer.body, {"content-type": answer.content_type})

    def _refuse(self, refusal: Refusal) -> None:
        details = {"details": {"error_code": refusal.code}} if refusal.code else {}
        error = {"type": refusal.type, "message": refusal.message, **details}
        body = {"type": "error", "error": error, "request_id": self._request_id}
        headers = {"content-type": "application/json", **refusal.headers}
        if refusal.status == 400:
            headers["x-should-retry"] = "false"
        self._send(refusal.status, json.dumps(body).encode(), headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {**headers, "content-length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"request-id": self._request_id, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    @property
    def _request_id(self) -> str:
        return f"req_{len(self.host.api.requests):06}"

    def _stream(self, reply: Reply, body: Json) -> None:
        api = self.host.api
        content = api.complete(reply, body)
        head = {
            "id": f"msg_{secrets.token_hex(8)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "usage": dict(reply.usage or api.usage(body)),
        }
        if reply.fault == Stall(None):
            self._stall()
            return
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for number, event in enumerate(events(reply, content, head=head)):
            if reply.fault and number == reply.fault.after:
                break
            self._chunk(encode(event))
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        match reply.fault:
            case Cut():
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                self.close_connection = True
                self.connection.close()
            case Stall():
                self._stall()
            case BreakOff():
                error = {"type": reply.fault.type, "message": reply.fault.message}
                self._chunk(encode({"type": "error", "error": error}))
                self._chunk(b"")
            case EndEarly() | None:
                self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _stall(self) -> None:
        """Send nothing until the client, which has nothing more to send, closes the connection."""
        self.host.api.stalled.set()
        self.close_connection = True
        if not self.connection.recv(1):
            self.host.api.hung_up.set()


def _invalid(message: str) -> Refusal:
    return Refusal(status=400, type="invalid_request_error", message=message)


def _bare(block: Block) -> Block:
    return {key: value for key, value in block.items() if not key.startswith("_")}


def _main() -> None:
    """Serve a script file, a JSON list of answers, the last one for ever; or say one thing."""
    parser = argparse.ArgumentParser(description=_main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    answers: list[Answer] = [replies.say("This is the test server.")]
    if options.script:
        answers = [replies.from_json(answer) for answer in json.loads(options.script.read_text())]
    remaining = list(answers)

    def script(_body: Json) -> Answer:
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    with messages_api(script, port=options.port) as api:
        print(api.url, flush=True)  # noqa: T201 - told to whoever started it
        Event().wait()


if __name__ == "__main__":
    _main()
