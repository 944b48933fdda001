"""A client that answers from files, so that agents run with no key and no network."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Final

from runner.clients.description import describe, estimate_tokens
from runner.clients.quoting import last_result_of, quote, quote_in
from runner.clients.script import ScriptedAnswer, ScriptedError, ScriptEntry
from runner.clients.script_files import load_scripts
from runner.core.errors import (
    CallCancelled,
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.jsonvalue import JsonObject, dump_json
from runner.core.messages import Message, Part, Role, Text, Thinking, ToolCall
from runner.core.model import (
    Delta,
    ModelRequest,
    ModelResponse,
    RenderedRequest,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    Usage,
)
from runner.core.tooling import Cancellation
from runner.definitions.config import ScriptedClient

_PROVIDER: Final = "scripted"
_DELTA_CHARS: Final = 24


def build(name: str, definition: ScriptedClient, *, root: Path) -> "ScriptedModelClient":
    """
    Read the scripts that *definition* names.

    Raises:
        ConfigError: A script is missing or wrong.
    """
    return ScriptedModelClient(load_scripts(definition.scripts, root=root, client=name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where in its turn a request stands, as the request itself tells."""

    task: str
    #: Responses since the task.
    step: int
    #: The same for every attempt at this request, in any process, and for no other request.
    key: str
    last_result: JsonObject

    def call_id(self, position: int) -> str:
        return f"call_{self.key}_{position}"


class ScriptedModelClient:
    """
    Answers with what the first matching script has for the step.

    The answer is a pure function of the request: a turn that goes on in another process is told
    the same there. The one thing remembered is how often an answer's error has been raised here.
    """

    max_attempts: Final = 4

    def __init__(self, entries: Sequence[ScriptEntry]) -> None:
        self._entries = tuple(entries)
        self._failures = Counter[str]()
        self._lock = Lock()

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        place = _place_of(request)
        answer = self._answer(request.agent, place)
        _wait(answer.delay.total_seconds() if answer.delay else 0, cancelled)
        if answer.error and self._fails(answer.error, place):
            raise _failure(answer.error)
        parts = tuple(_parts(answer, place))
        for delta in _deltas(parts):
            _wait(0, cancelled)
            on_delta(delta)
        return ModelResponse(
            parts=parts,
            stop_reason=_stop_reason(answer),
            usage=_usage(answer, request, parts),
            provider=_PROVIDER,
            model=request.model,
            request_id=f"scripted_{place.key}",
        )

    def render(self, request: ModelRequest) -> RenderedRequest:
        return RenderedRequest(provider=_PROVIDER, body=describe(request))

    def _answer(self, agent: str, place: _Place) -> ScriptedAnswer:
        for entry in self._entries:
            if entry.matches(agent, place.task):
                return entry.answers[min(place.step, len(entry.answers) - 1)]
        return ScriptedAnswer(text=_unscripted(agent, place.task))

    def _fails(self, error: ScriptedError, place: _Place) -> bool:
        with self._lock:
            self._failures[place.key] += 1
            return error.times is None or self._failures[place.key] <= error.times


def _place_of(request: ModelRequest) -> _Place:
    messages = request.messages
    trigger = next(
        (i for i in reversed(range(len(messages))) if messages[i].role is Role.USER), None
    )
    since = messages if trigger is None else messages[trigger:]
    first = [] if trigger is None else [messages[trigger].conversation_id, messages[trigger].id]
    identity = dump_json([*first, _responses(messages)])
    return _Place(
        task="" if trigger is None else messages[trigger].text,
        step=_responses(since),
        key=hashlib.sha256(identity.encode()).hexdigest()[:24],
        last_result=last_result_of(messages),
    )


def _responses(messages: Sequence[Message]) -> int:
    return sum(message.role is Role.ASSISTANT for message in messages)


def _unscripted(agent: str, task: str) -> str:
    quoted = "\n".join(f"> {line}" for line in task.splitlines())
    return (
        "This answer comes from the offline scripted client: no model was asked. "
        f"No script has an answer for the agent {agent!r} to this task:\n\n{quoted}\n\n"
        "Add a script for it, or set a key to have a model answer."
    )


def _wait(seconds: float, cancelled: Cancellation) -> None:
    """Wait, but no longer than until the call is cancelled."""
    woken = Event()
    unsubscribe = cancelled.subscribe(woken.set)
    try:
        if woken.wait(seconds):
            raise CallCancelled("the call was cancelled")
    finally:
        unsubscribe()


def _failure(error: ScriptedError) -> ModelError:
    message = f"the script says that this request fails: {error.kind}"
    match error.kind:
        case "unavailable":
            delay = error.retry_after.total_seconds() if error.retry_after else None
            return ModelUnavailable(message, retry_after=delay)
        case "transport":
            return ModelTransport(message)
        case "rejected":
            return ModelRejected(message)
        case "too_long":
            return PromptTooLong(message)
        case "access":
            return ModelAccessDenied(message)


def _parts(answer: ScriptedAnswer, place: _Place) -> Iterator[Part]:
    if answer.thinking:
        yield Thinking(text=quote(answer.thinking, task=place.task, last_result=place.last_result))
    if answer.text:
        yield Text(text=quote(answer.text, task=place.task, last_result=place.last_result))
    for position, call in enumerate(answer.tool_calls, start=1):
        yield ToolCall(
            call_id=place.call_id(position),
            name=call.name,
            arguments={
                key: quote_in(value, task=place.task, last_result=place.last_result)
                for key, value in call.arguments.items()
            },
        )


def _deltas(parts: Sequence[Part]) -> Iterator[Delta]:
    for part in parts:
        match part:
            case Text():
                yield from (TextDelta(text=piece) for piece in _pieces(part.text))
            case Thinking():
                yield from (ThinkingDelta(text=piece) for piece in _pieces(part.text))
            case ToolCall():
                yield ToolCallStarted(name=part.name)
            case _:
                pass


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _DELTA_CHARS] for at in range(0, len(text), _DELTA_CHARS))


def _stop_reason(answer: ScriptedAnswer) -> StopReason:
    if answer.stop:
        return StopReason(answer.stop)
    return StopReason.TOOL_CALLS if answer.tool_calls else StopReason.END


def _usage(answer: ScriptedAnswer, request: ModelRequest, parts: Sequence[Part]) -> Usage:
    if answer.usage:
        return Usage(**answer.usage.model_dump())
    return estimate_tokens(request, parts)
