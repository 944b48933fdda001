"""A client that answers from files, so that agents run with no key and no network."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Lock
from typing import Final

from runner.clients.description import describe, estimate_tokens
from runner.clients.performance import deltas_of, failure_of, parts_of, stop_reason_of
from runner.clients.place import Place
from runner.clients.script import ScriptedAnswer, ScriptedError, ScriptEntry
from runner.clients.script_files import load_scripts
from runner.core.errors import CallCancelled
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest, Usage
from runner.core.tooling import Cancellation
from runner.definitions.config import ScriptedClient

_PROVIDER: Final = "scripted"


def build(name: str, definition: ScriptedClient, *, root: Path) -> "ScriptedModelClient":
    """
    Read the scripts that *definition* names.

    Raises:
        ConfigError: A script is missing or wrong.
    """
    return ScriptedModelClient(load_scripts(definition.scripts, root=root, client=name))


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
        place = Place.of(request)
        answer = self._answer(request.agent, place)
        _wait(answer.delay.total_seconds() if answer.delay else 0, cancelled)
        if answer.error and self._fails(answer.error, place):
            raise failure_of(answer.error)
        parts = tuple(parts_of(answer, place))
        for delta in deltas_of(parts):
            _wait(0, cancelled)
            on_delta(delta)
        usage = answer.usage
        return ModelResponse(
            parts=parts,
            stop_reason=stop_reason_of(answer),
            usage=Usage(**usage.model_dump()) if usage else estimate_tokens(request, parts),
            provider=_PROVIDER,
            model=request.model,
            request_id=f"scripted_{place.key}",
        )

    def render(self, request: ModelRequest) -> RenderedRequest:
        return RenderedRequest(provider=_PROVIDER, body=describe(request))

    def _answer(self, agent: str, place: Place) -> ScriptedAnswer:
        for entry in self._entries:
            if entry.matches(agent, place.quotable.task, place.after):
                return entry.answers[min(place.step, len(entry.answers) - 1)]
        return _unscripted(agent)

    def _fails(self, error: ScriptedError, place: Place) -> bool:
        with self._lock:
            self._failures[place.key] += 1
            return error.times is None or self._failures[place.key] <= error.times


def _unscripted(agent: str) -> ScriptedAnswer:
    return ScriptedAnswer(
        text=(
            "This answer comes from the offline scripted client: no model was asked, and no script "
            f"has an answer for the agent {agent!r} to this task:\n\n{{task}}\n\n"
            "Set a key to have a model answer, or add a script for the agent."
        )
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
