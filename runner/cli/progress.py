"""A turn's progress as people see it: streamed text, tool calls with their ends, retries."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from runner.cli.console import STYLES, print_text
from runner.cli.text import json_text, one_line, plain
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message, ToolResult
from runner.core.model import CallRetried, Delta, TextDelta, ThinkingDelta, ToolCallStarted
from runner.core.records import ToolExecution, Turn

_MARKS: Final[Mapping[str, str]] = {
    "completed": "✓",
    "failed": "✗",
    "timed_out": "✗",
    "interrupted": "?",
    "refused": "⊘",
    "skipped": "-",
}
#: How much of a call is shown, with its arguments.
_LONGEST_CALL: Final = 100
_SHORTEST_CALL: Final = 20
#: The mark before it, and the time after it.
_AROUND_A_CALL: Final = 10
_LONGEST_ERROR: Final = 300
#: Seconds from which on it is said how long a call took.
_WORTH_TELLING: Final = 0.1
#: How much of what is being said is shown while it is.
_LINES_OF_TEXT: Final = 8


class Source(Protocol):
    """Where the progress looks up what events only name."""

    def turn(self, turn_id: str) -> Turn: ...

    def executions(self, turn_id: str) -> Sequence[ToolExecution]: ...

    def messages(self, conversation_id: str) -> Sequence[Message]: ...


class Progress:
    """
    Prints one line for each thing that happened, and what the model says between its tool calls.

    On a terminal, what is being waited for and what is being said just now stand below the lines
    until they have passed; a file gets the lines alone. The last answer is left to be shown as the
    turn's result, unless there is a console for all text as it comes.
    """

    def __init__(self, out: Console, *, text_out: Console | None = None) -> None:
        """
        Begin.

        Args:
            out: Takes the lines.
            text_out: Takes all text as it comes.
        """
        self._out = out
        self._text_out = text_out
        self._source: Source | None = None
        self._live: Live | None = None
        self._waiting = Spinner("dots", style="cyan")
        #: What the model said since the last line.
        self._text = ""
        #: Whether that is an answer that has ended.
        self._is_whole = False
        self._calls: dict[str, ToolExecution] = {}
        self._last_at: float | None = None

    def look_up_in(self, source: Source) -> None:
        self._source = source

    def on_delta(self, delta: Delta) -> None:
        match delta:
            case TextDelta(text=text):
                self._hear(text)
            case ThinkingDelta():
                self.wait_for("thinking")
            case ToolCallStarted(name=name):
                self.wait_for(f"about to call {name}")
            case CallRetried():
                self._retry(delta.attempt, delta.delay, delta.error)

    def on_event(self, turn_id: TurnId, kind: str, body: JsonObject, *, at: float) -> None:
        """
        Show an event.

        Args:
            turn_id: Its turn.
            kind: Its kind.
            body: Its body.
            at: When it was, in seconds of any clock that all events of the turn share.
        """
        match kind:
            case "turn.started" | "turn.resumed":
                self.wait_for("working")
            case "message.created" if body.get("role") == "assistant":
                self._answered(turn_id, str(body.get("message_id")))
            case "tool_call.started":
                self._tell()
                self.wait_for(self._call(turn_id, body))
            case "tool_call.ended":
                self._tool_ended(turn_id, body, at)
            case "turn.released":
                self._say(f"↩ handed back: {body.get('reason')}", "yellow")
            case "turn.failed":
                self._tell()
            case "output.rejected":
                self._say("↻ the answer does not have the required form; asked again", "yellow")
            case _:
                pass
        self._last_at = at

    def retried(self, body: JsonObject) -> None:
        """Show a retry that is known from its event only."""
        delay = body.get("delay")
        seconds = delay if isinstance(delay, float | int) else 0
        self._retry(body.get("attempt"), seconds, str(body.get("error")))

    def wait_for(self, what: str) -> None:
        """Show on a terminal what is being waited for."""
        self._waiting.update(text=Text(plain(what), style="dim"))
        self._refresh()

    def stop(self) -> None:
        """Leave the terminal as it was; the last answer is someone else's to show."""
        self._hide()
        self._end_streamed_line()
        self._text, self._is_whole = "", False

    def _hear(self, text: str) -> None:
        """Take more of what the model says."""
        if self._is_whole:
            self._tell()
        self._text += plain(text)
        if self._text_out is None:
            self._refresh()
        else:
            self._hide()
            self._text_out.print(Text(plain(text)), end="", soft_wrap=True)

    def _answered(self, turn_id: TurnId, message_id: str) -> None:
        """Have the whole text of a stored answer, of which nothing may have been streamed."""
        if self._is_whole or not self._text:
            messages = self._messages(turn_id)
            self._hear(next((message.text for message in messages if message.id == message_id), ""))
        self._is_whole = True

    def _tell(self) -> None:
        """Print what the model said, now that something else follows."""
        self._hide()
        if self._text_out is not None:
            self._end_streamed_line()
        elif self._text.strip():
            print_text(self._out, Text(self._text.strip(), style="dim"))
        self._text, self._is_whole = "", False

    def _tool_ended(self, turn_id: TurnId, body: JsonObject, at: float) -> None:
        status = str(body.get("status"))
        style = STYLES.get(status, "")
        name, _, arguments = self._call(turn_id, body).partition(" ")
        line = Text().append(f"{_MARKS.get(status, '·')} ", style=style)
        line.append(name).append(f" {arguments}" if arguments else "", style="dim")
        if status != "completed":
            error = self._error(turn_id, body)
            line.append(f"  {status.replace('_', ' ')}", style=style)
            line.append(f": {error}" if error else "")
        seconds = 0 if self._last_at is None else at - self._last_at
        if seconds >= _WORTH_TELLING:
            line.append(f"  {seconds:.1f}s", style="dim")
        self._print(line)
        self.wait_for("working")

    def _retry(self, attempt: object, delay: float, error: str) -> None:
        void = ""
        if self._text_out is None:
            self._text = ""
        elif self._text:
            void = "; what it had said is void"
        again = f"trying again in {delay:.1f}s"
        self._say(
            f"↻ attempt {attempt} failed: {one_line(error, _LONGEST_ERROR)}; {again}{void}",
            "yellow",
        )
        self.wait_for("working")

    def _call(self, turn_id: TurnId, body: JsonObject) -> str:
        """Name a tool with its arguments."""
        run_id = str(body.get("execution_id"))
        if run_id not in self._calls and self._source is not None:
            self._calls = {run.id: run for run in self._source.executions(turn_id)}
        run = self._calls.get(run_id)
        arguments = json_text(run.arguments) if run and run.arguments else ""
        return one_line(f"{body.get('tool')} {arguments}", self._longest_call)

    @property
    def _longest_call(self) -> int:
        """How much of a call fits on one line, with its mark and its time."""
        if not self._out.is_terminal:
            return _LONGEST_CALL
        return max(min(_LONGEST_CALL, self._out.width - _AROUND_A_CALL), _SHORTEST_CALL)

    def _error(self, turn_id: TurnId, body: JsonObject) -> str:
        """Say what the model is told of a call that did not succeed."""
        results = [
            part.content
            for message in self._messages(turn_id)
            for part in message.parts
            if message.execution_id == body.get("execution_id") and isinstance(part, ToolResult)
        ]
        error = results[0].get("error") if results else None
        if not isinstance(error, Mapping):
            return one_line(str(error or ""), _LONGEST_ERROR)
        # Of an exception the message alone may say nothing: that of KeyError is the key.
        kind = f"{error.get('type')}: " if body.get("status") == "failed" else ""
        return one_line(f"{kind}{error.get('message') or ''}", _LONGEST_ERROR)

    def _messages(self, turn_id: TurnId) -> Sequence[Message]:
        if self._source is None:
            return ()
        return self._source.messages(self._source.turn(turn_id).conversation_id)

    def _say(self, line: str, style: str) -> None:
        self._print(Text(one_line(line), style=style))

    def _print(self, line: Text) -> None:
        self._tell()
        print_text(self._out, line)

    def _refresh(self) -> None:
        """Show what stands below the lines."""
        if not self._out.is_terminal or (self._text_out is not None and self._text):
            return
        said = "\n".join(self._text.strip().splitlines()[-_LINES_OF_TEXT:])
        below = Group(Text(said, style="dim"), self._waiting) if said else self._waiting
        if self._live is not None:
            self._live.update(below)
            return
        self._live = Live(
            below,
            console=self._out,
            transient=True,
            refresh_per_second=12,
            vertical_overflow="crop",
        )
        self._live.start(refresh=True)

    def _hide(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _end_streamed_line(self) -> None:
        if self._text_out is not None and self._text and not self._text.endswith("\n"):
            self._text_out.print()
