"""Asks Claude: one streamed request a call, checked before it is sent and after it has come."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
from anthropic import (
    Anthropic,
    AnthropicError,
    APIStatusError,
    DefaultHttpxClient,
    Stream,
)
from anthropic.types import Message, RawMessageStreamEvent

from runner.clients.anthropic.answer import Answer
from runner.clients.anthropic.errors import Failure, translate
from runner.clients.anthropic.hangup import Call, HangUp, Switchboard
from runner.clients.anthropic.projection import PROVIDER
from runner.clients.anthropic.request import build_body
from runner.clients.anthropic.transcript_rules import complaints
from runner.core.errors import (
    CallCancelled,
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
)
from runner.core.jsonvalue import JsonObject, dump_json
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest
from runner.core.tooling import Cancellation
from runner.definitions.config import AnthropicClient

_PATH: Final = "/v1/messages"
_BASE_URL: Final = "https://api.anthropic.com"
_CONNECT_SECONDS: Final = 10.0

#: What the SDK and what it stands on raise; a stream raises the latter as it is.
_FOREIGN: Final = (AnthropicError, httpx2.HTTPError, OSError, RuntimeError, ValueError)
_UNREACHABLE: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


def build(name: str, definition: AnthropicClient, *, root: Path) -> "AnthropicModelClient":
    """Make the client; it reads no files of *root*."""
    del root
    return AnthropicModelClient(name, definition)


class AnthropicModelClient:
    """
    Claude, through the official SDK.

    Of the process's environment only its proxies have a say in what is sent where.
    """

    def __init__(self, name: str, definition: AnthropicClient) -> None:
        self._name = name
        self._definition = definition
        self._key = definition.api_key.reveal().strip()
        self._seconds = definition.timeout.total_seconds()
        self._switchboard = Switchboard()
        self._sdk = _sdk(definition, self._key, self._switchboard)

    @property
    def max_attempts(self) -> int:
        return self._definition.max_attempts

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        content = self._content(build_body(request))
        answer = Answer()
        with (
            self._switchboard.call(cancelled, seconds=self._seconds) as call,
            self._response(content, call) as response,
        ):
            request_id = response.headers.get("request-id")
            for event in self._events(response, call):
                for delta in answer.take(event):
                    on_delta(delta)
        return answer.response(model=request.model, request_id=request_id)

    def render(self, request: ModelRequest) -> RenderedRequest:
        return RenderedRequest(provider=PROVIDER, body=build_body(request))

    def _content(self, body: JsonObject) -> bytes:
        """Return what is posted, once it is sure that it may be."""
        broken = complaints(body)
        if broken:
            raise ModelRejected(f"the request was not sent, because of {'; '.join(broken[:3])}")
        if not self._key:
            raise ModelAccessDenied(
                f"the client {self._name!r} has no key: set ANTHROPIC_API_KEY, "
                f"or clients.{self._name}.api_key in the config"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelAccessDenied(
                f"the key of the client {self._name!r} holds characters that no key has"
            )
        return dump_json(body).encode()

    @contextmanager
    def _response(self, content: bytes, call: Call) -> Iterator[httpx2.Response]:
        with self._translation(call):
            self._check(call)
            stream = self._sdk.post(
                _PATH,
                cast_to=Message,
                content=content,
                stream=True,
                stream_cls=Stream[RawMessageStreamEvent],
            )
        with stream:
            yield stream.response

    def _events(self, response: httpx2.Response, call: Call) -> Generator[JsonObject]:
        with self._translation(call):
            for sent in Stream.raw_events(response):
                event = sent.json() if sent.data else None
                if not isinstance(event, Mapping):
                    continue
                if event.get("type") == "error":
                    failure = Failure.of_event(event, response.headers.get("request-id"))
                    raise translate(failure, secret=self._key)
                yield event
            self._check(call)

    @contextmanager
    def _translation(self, call: Call) -> Iterator[None]:
        """Turn what the SDK raises into our errors; the key is in none of them."""
        try:
            yield
        except _FOREIGN as error:
            caught = error
        else:
            return
        self._check(call)
        raise self._error(caught) from (None if self._key in str(caught) else caught)

    def _check(self, call: Call) -> None:
        match call.reason:
            case HangUp.CANCELLED:
                raise CallCancelled("the call was cancelled")
            case HangUp.OUT_OF_TIME:
                raise ModelTransport(f"the answer took longer than {self._seconds:g} seconds")
            case None:
                pass

    def _error(self, error: BaseException) -> ModelError:
        if isinstance(error, APIStatusError):
            return translate(Failure.of_status_error(error), secret=self._key)
        if isinstance(error, AnthropicError) and error.__cause__:
            return self._error(error.__cause__)
        if isinstance(error, _UNREACHABLE):
            return ModelUnavailable(f"the provider cannot be reached: {error}")
        if isinstance(error, httpx2.TimeoutException):
            silence = self._definition.stall_timeout.total_seconds()
            return ModelTransport(f"the provider said nothing for {silence:g} seconds")
        return ModelTransport(f"the answer was cut: {str(error) or type(error).__name__}")


def _sdk(definition: AnthropicClient, key: str, switchboard: Switchboard) -> Anthropic:
    silence = definition.stall_timeout.total_seconds()
    timeout = httpx2.Timeout(silence, connect=min(silence, _CONNECT_SECONDS), pool=None)
    sdk = Anthropic(
        api_key=key,
        base_url=definition.base_url or _BASE_URL,
        max_retries=0,
        open_telemetry=False,
        timeout=timeout,
        http_client=DefaultHttpxClient(
            timeout=timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            event_hooks={"request": [switchboard.observe]},
        ),
    )
    sdk._custom_headers = {}  # noqa: SLF001 - the SDK has no other way to ignore the environment's
    return sdk
