"""How a turn is shown while it runs, here or elsewhere: to people, or to programs."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, assert_never

from rich.console import Console
from typing_extensions import override

from runner.cli.console import print_json_line, print_text
from runner.cli.outcome import exit_code, show_outcome
from runner.cli.progress import Progress, Source
from runner.cli.shapes import event_json, turn_json
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import CallRetried, Delta, TextDelta, ThinkingDelta, ToolCallStarted
from runner.core.records import Event, NewEvent, Turn


class View(Protocol):
    """Shows one turn after the other; an observer of those that run here."""

    def look_up_in(self, source: Source) -> None:
        """Take what events only name from *source*."""
        ...

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None: ...

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None: ...

    def working(self) -> AbstractContextManager[None]:
        """Show that something is going on while a turn runs here."""
        ...

    def follow(self, events: Iterable[Event]) -> None:
        """Show the events of a turn that runs elsewhere, as they come."""
        ...

    def notice(self, text: str) -> None:
        """Tell people something that is no part of any result."""
        ...

    def outcome(self, turn: Turn) -> int:
        """Show how the turn ended and return the exit code for it."""
        ...


def view_for(*, as_json: bool, chat: bool = False) -> View:
    """Choose how to show turns; in a chat the streamed text is the answer itself."""
    return JsonView() if as_json else PeopleView(chat=chat)


class PeopleView(View):
    """Progress on standard error and the result on standard output, so that it can be piped."""

    def __init__(self, *, chat: bool) -> None:
        self._chat = chat
        self._notes = Console(stderr=True, markup=False, emoji=False, highlight=False)
        answers = Console(markup=False, emoji=False, highlight=False)
        self._progress = Progress(self._notes, text_out=answers if chat else None)

    @override
    def look_up_in(self, source: Source) -> None:
        self._progress.look_up_in(source)

    @override
    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        self._progress.on_event(turn_id, event.kind, event.body, at=time.monotonic())

    @override
    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        self._progress.on_delta(delta)

    @override
    @contextmanager
    def working(self) -> Iterator[None]:
        self._progress.wait_for("working")
        try:
            yield
        finally:
            self._progress.stop()

    @override
    def follow(self, events: Iterable[Event]) -> None:
        with self.working():
            self._progress.wait_for("waiting for a worker")
            for event in events:
                if event.kind == "model.retried":
                    self._progress.retried(event.body)
                at = event.at.timestamp()
                self._progress.on_event(event.turn_id, event.kind, event.body, at=at)

    @override
    def notice(self, text: str) -> None:
        print_text(self._notes, text, style="yellow")

    @override
    def outcome(self, turn: Turn) -> int:
        show_outcome(turn, self._notes, with_result=not self._chat)
        return exit_code(turn)


class JsonView(View):
    """One JSON document a line, the last of them the turn."""

    @override
    def look_up_in(self, source: Source) -> None:
        """Look nothing up: events are shown as they are."""

    @override
    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        print_json_line(
            {"type": "event", "turn_id": turn_id, "kind": event.kind, "body": event.body}
        )

    @override
    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        print_json_line({**_delta_json(delta), "turn_id": turn_id})

    @override
    def working(self) -> AbstractContextManager[None]:
        return nullcontext()

    @override
    def follow(self, events: Iterable[Event]) -> None:
        for event in events:
            print_json_line({"type": "event", **event_json(event)})

    @override
    def notice(self, text: str) -> None:
        print(text, file=sys.stderr)

    @override
    def outcome(self, turn: Turn) -> int:
        print_json_line({"type": "turn", "turn": turn_json(turn)})
        return exit_code(turn)


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
