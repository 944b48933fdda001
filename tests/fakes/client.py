"""A model client that answers from a list."""

from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import TypeAlias

from runner.core.errors import CallCancelled
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Part, Text, ToolCall
from runner.core.model import (
    Delta,
    ModelRequest,
    ModelResponse,
    RenderedRequest,
    StopReason,
    TextDelta,
    Usage,
)
from runner.core.tooling import Cancellation


class Stall:
    """Answers nothing until the call is cancelled; `begun` is set once it is being made."""

    def __init__(self) -> None:
        self.begun = Event()


Answer: TypeAlias = ModelResponse | Exception | Stall | Callable[[ModelRequest], ModelResponse]


class FakeClient:
    """
    Gives its answers in order, the last one again and again, and keeps the requests.

    An answer that is an exception is raised, a callable is called with the request.
    """

    def __init__(
        self,
        *answers: "Answer",
        max_attempts: int = 4,
    ) -> None:
        self.max_attempts = max_attempts
        self.requests: list[ModelRequest] = []
        self._answers = list(answers)
        self._given: list[Answer] = []
        self._lock = Lock()

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        with self._lock:
            self.requests.append(request)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            self._given.append(answer)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Stall):
            answer.begun.set()
            _wait(cancelled)
            raise CallCancelled("the call was cancelled")
        response = answer if isinstance(answer, ModelResponse) else answer(request)
        for part in response.parts:
            if isinstance(part, Text):
                on_delta(TextDelta(text=part.text))
        return response

    def put_back(self) -> None:
        """Give the last answer again, as a model does that is asked the same thing once more."""
        with self._lock:
            last = self._given.pop()
            if not self._answers or self._answers[0] is not last:
                self._answers.insert(0, last)

    def render(self, request: ModelRequest) -> RenderedRequest:
        body: JsonObject = {
            "model": request.model,
            "system": request.system,
            "messages": [[message.role.value, message.text] for message in request.messages],
        }
        return RenderedRequest(provider="fake", body=body)


def says(text: str, **usage: int) -> ModelResponse:
    """An answer of text."""
    return respond([Text(text=text)], StopReason.END, **usage)


def calls(*wanted: tuple[str, JsonObject], prefix: str = "call") -> ModelResponse:
    """An answer that asks for tools."""
    parts = [
        ToolCall(call_id=f"{prefix}_{index}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(wanted)
    ]
    return respond(parts, StopReason.TOOL_CALLS)


def respond(parts: Sequence[Part], stop_reason: StopReason, **usage: int) -> ModelResponse:
    return ModelResponse(
        parts=tuple(parts),
        stop_reason=stop_reason,
        usage=Usage(**usage),
        provider="fake",
        model="fake-1",
        request_id="req_1",
    )


def _wait(cancelled: Cancellation) -> None:
    woken = Event()
    cancelled.subscribe(woken.set)
    assert woken.wait(60), "the call was never cancelled"
