"""How a turn is shown while it runs, here or elsewhere: to people, or to programs."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Protocol, assert_never

from rich.console import Console
from typing_extensions import override

from runner.cli.asked import how_to_answer
from runner.cli.console import print_json_line, print_text
from runner.cli.looks import Look
from runner.cli.lookup import Source
from runner.cli.outcome import exit_code, show_outcome
from runner.cli.progress import Progress
from runner.cli.shapes import event_json, total_json, turn_json
from runner.core.clock import SystemClock
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import CallRetried, Delta, TextDelta, ThinkingDelta, ToolCallStarted
from runner.core.records import NewEvent, Turn


class View(Protocol):
    """
    Shows one turn after the other, each with those below it; an observer of those that run here.

    Turns that run here side by side tell of themselves from threads of their own.
    """

    def look_up_in(self, source: Source) -> None:
        """Take what events only name from *source*; comes before any turn."""
        ...

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None: ...

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None: ...

    def working(self) -> AbstractContextManager[None]:
        """Show that something is going on while a turn runs here."""
        ...

    def look(self) -> None:
        """Look at the turn that runs here anew; called again and again meanwhile."""
        ...

    def asking(self) -> Sequence[TurnId]:
        """Return the turns that wait for people to approve calls, as far as people are shown."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Show nothing that changes while a person is asked something."""
        ...

    def follow(self, looks: Iterable[Look]) -> None:
        """Show a turn that runs elsewhere."""
        ...

    def notice(self, text: str) -> None:
        """Tell people something that is no part of any result."""
        ...

    def outcome(self, tree: Sequence[Turn]) -> int:
        """Show how a turn ended, given with those below it, and return the exit code for it."""
        ...


def view_for(*, as_json: bool, chat: bool = False) -> View:
    """Choose how to show turns; in a chat the streamed text is the answer itself."""
    return JsonView() if as_json else PeopleView(chat=chat)


class PeopleView(View):
    """Progress on standard error and the result on standard output, so that it can be piped."""

    _progress: Progress

    def __init__(self, *, chat: bool) -> None:
        self._chat = chat
        self._notes = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._lock = RLock()

    @override
    def look_up_in(self, source: Source) -> None:
        answers = Console(markup=False, emoji=False, highlight=False)
        text_out = answers if self._chat else None
        self._progress = Progress(self._notes, SystemClock(), source, text_out=text_out)

    @override
    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        with self._lock:
            self._progress.on_event(turn_id, event.kind, event.body, at=time.monotonic())

    @override
    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        with self._lock:
            self._progress.on_delta(turn_id, delta)

    @override
    @contextmanager
    def working(self) -> Iterator[None]:
        self._progress.wait_for("working")
        try:
            yield
        finally:
            with self._lock:
                self._progress.stop()

    @override
    def look(self) -> None:
        with self._lock:
            self._progress.look()

    @override
    def asking(self) -> Sequence[TurnId]:
        return self._progress.asking

    @override
    def held(self) -> AbstractContextManager[None]:
        return self._progress.held()

    @override
    def follow(self, looks: Iterable[Look]) -> None:
        with self.working():
            self._progress.wait_for("waiting for a worker")
            for look in looks:
                self._progress.see(look.turns)
                for event in look.events:
                    if event.kind == "model.retried":
                        self._progress.retried(event.turn_id, event.body)
                    at = event.at.timestamp()
                    self._progress.on_event(event.turn_id, event.kind, event.body, at=at)

    @override
    def notice(self, text: str) -> None:
        print_text(self._notes, text, style="yellow")

    @override
    def outcome(self, tree: Sequence[Turn]) -> int:
        show_outcome(tree, self._notes, with_result=not self._chat)
        return exit_code(tree[0])


class JsonView(View):
    """One JSON document a line, the last of them the turn."""

    def __init__(self) -> None:
        self._lock = RLock()

    @override
    def look_up_in(self, source: Source) -> None:
        """Look nothing up: events are shown as they are."""

    @override
    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        self._print({"type": "event", "turn_id": turn_id, "kind": event.kind, "body": event.body})
        if event.kind == "approval.requested":
            self.notice(f"{turn_id} asks for approval; {how_to_answer(event.body)}")

    @override
    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        self._print({**_delta_json(delta), "turn_id": turn_id})

    @override
    def working(self) -> AbstractContextManager[None]:
        return nullcontext()

    @override
    def look(self) -> None:
        """Look at nothing: events say what happens."""

    @override
    def asking(self) -> Sequence[TurnId]:
        return ()

    @override
    def held(self) -> AbstractContextManager[None]:
        return nullcontext()

    @override
    def follow(self, looks: Iterable[Look]) -> None:
        for look in looks:
            for event in look.events:
                self._print({"type": "event", **event_json(event)})

    @override
    def notice(self, text: str) -> None:
        print(text, file=sys.stderr)

    @override
    def outcome(self, tree: Sequence[Turn]) -> int:
        self._print({"type": "turn", "turn": turn_json(tree[0]), "total": total_json(tree)})
        return exit_code(tree[0])

    def _print(self, document: JsonObject) -> None:
        with self._lock:
            print_json_line(document)


def _delta_json(delta: Delta) -> JsonObject:
    match delta:
        case TextDelta(text=text):
            return {"type": "text", "text": text}
        case ThinkingDelta(text=text):
            return {"type": "thinking", "text": text}
        case ToolCallStarted(name=name):
            return {"type": "tool_call", "name": name}
        case CallRetried():
            return {
                "type": "retry",
                "attempt": delta.attempt,
                "delay": delta.delay,
                "error": delta.error,
            }
        case _:
            assert_never(delta)
