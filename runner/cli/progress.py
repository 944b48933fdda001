"""The progress of a turn, and of all turns below it, as people see it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from rich.console import Console
from rich.text import Text

from runner.cli.asked import how_to_answer
from runner.cli.below import Below
from runner.cli.console import STYLES, print_text
from runner.cli.lookup import Lookup, Source
from runner.cli.outcome import consumption
from runner.cli.strand import Strand
from runner.cli.text import json_text, one_line, plain
from runner.core.clock import Clock
from runner.core.errors import StoreError
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import CallRetried, Delta, TextDelta, ThinkingDelta, ToolCallStarted
from runner.core.records import Turn

_MARKS: Final[Mapping[str, str]] = {
    "completed": "✓",
    "failed": "✗",
    "timed_out": "✗",
    "interrupted": "?",
    "refused": "⊘",
    "skipped": "-",
}
#: What is said of events that are told in one sentence.
_SENTENCES: Final[Mapping[str, str]] = {
    "output.rejected": "↻ the answer does not have the required form; asked again",
    "turn.cancel_requested": "- asked to cancel",
    "turn.pause_requested": "‖ asked to pause",
    "turn.paused": "‖ paused; `runner resume {turn_id}` lets it go on",
    "turn.released": "↩ handed back: {reason}",
    "turn.stale": "? its process died; `runner resume {turn_id}` hands it to the workers",
    "turn.unpaused": "▸ goes on",
}
#: How much of a call is shown, with its arguments.
_LONGEST_CALL: Final = 100
_SHORTEST_CALL: Final = 20
#: The mark before a call, and the time after it.
_AROUND_A_CALL: Final = 10
_LONGEST_TEXT: Final = 300
#: Seconds from which on it is said how long a call took.
_WORTH_TELLING: Final = 0.1


class Progress:
    """
    Prints one line for each thing that happened, and what models say between their tool calls.

    The first turn that is heard of is the top one; lines of the turns below it are moved in and
    begin with their agent. On a terminal, what is being said just now and the tree as it is stand
    below the lines; a file gets the lines alone. The last answer is left to be shown as the turn's
    result, unless there is a console for all text of the top turn as it comes.
    """

    def __init__(
        self, out: Console, clock: Clock, source: Source, *, text_out: Console | None = None
    ) -> None:
        """
        Begin.

        Args:
            out: Takes the lines.
            clock: Tells for how long turns have been running.
            source: Has what events only name.
            text_out: Takes all text of the top turn as it comes.
        """
        self._out = out
        self._text_out = text_out
        self._below = Below(out, clock)
        self._lookup = Lookup(source)
        self._strands = dict[TurnId, Strand]()
        self._namesakes = Counter[str]()

    def look(self) -> None:
        """On a terminal, look at the tree anew."""
        top = next(iter(self._strands), None)
        if top is not None and self._out.is_terminal:
            with suppress(StoreError):  # whoever runs the turn finds out
                self.see(self._lookup.tree(top))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Leave the end of the terminal to somebody else."""
        self._below.is_held = True
        self._below.hide()
        try:
            yield
        finally:
            self._below.is_held = False

    @property
    def asking(self) -> Sequence[TurnId]:
        """The turns that wait for people to approve calls, as of the last look."""
        return [turn.id for turn in self._below.turns if turn.open_approvals]

    def see(self, turns: Sequence[Turn]) -> None:
        """Take the tree as it is now."""
        for turn in turns:
            self._meet(turn)
        self._below.turns = turns

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        strand = self._strand(turn_id)
        match delta:
            case TextDelta(text=text):
                self._below.doing[turn_id] = "answering"
                self._hear(strand, text)
            case ThinkingDelta():
                self._do(strand, "thinking")
            case ToolCallStarted(name=name):
                self._do(strand, f"about to call {name}")
            case CallRetried():
                self._retry(strand, delta.attempt, delta.delay, delta.error)

    def on_event(self, turn_id: TurnId, kind: str, body: JsonObject, *, at: float) -> None:
        """
        Show an event.

        Args:
            turn_id: Its turn.
            kind: Its kind.
            body: Its body.
            at: When it was, in seconds of any clock that all events of the turn share.
        """
        strand = self._strand(turn_id)
        match kind:
            case "message.created" if body.get("role") == "assistant":
                self._answered(strand, body.get("message_id"))
            case "tool_call.started":
                strand.began[body.get("execution_id")] = at
                self._tell(strand)
                self._do(strand, self._call(strand, body, body.get("tool")))
            case "tool_call.ended":
                self._tool_ended(strand, body, at)
            case "sub_agent.started":
                self._delegated(strand, body, body.get("agent"))
            case "turn.waiting":
                self._delegated(strand, body, "wait_for")
            case _:
                self._on_turn(strand, kind, body)

    def retried(self, turn_id: TurnId, body: JsonObject) -> None:
        """Show a retry that is known from its event only."""
        delay = body.get("delay")
        seconds = delay if isinstance(delay, float | int) else 0
        self._retry(self._strand(turn_id), body.get("attempt"), seconds, str(body.get("error")))

    def wait_for(self, what: str) -> None:
        """Show on a terminal what is being waited for."""
        self._below.waiting = what
        self._show_below()

    def stop(self) -> None:
        """Leave a tree standing on a terminal; the last answer is someone else's to show."""
        self.look()
        for strand in self._strands.values():
            self._end_streamed_line(strand)
        self._below.stop()
        self._strands.clear()
        self._namesakes.clear()

    def _on_turn(self, strand: Strand, kind: str, body: JsonObject) -> None:
        match kind:
            case "turn.started" | "turn.resumed":
                self._do(strand, "")
            case "approval.requested":
                self._asked(strand, body)
            case "approval.answered":
                self._was_answered(strand, body)
            case "turn.steered":
                self._steered(strand, body.get("message_id"))
            case "turn.completed" | "turn.failed" | "turn.cancelled" if not strand.is_top:
                self._ended(strand)
            case "turn.failed":
                self._tell(strand)
            case _ if kind in _SENTENCES:
                facts = {"turn_id": strand.turn.id, "reason": body.get("reason")}
                self._say(strand, _SENTENCES[kind].format_map(facts), "yellow")
            case _:
                pass

    def _strand(self, turn_id: TurnId) -> Strand:
        if turn_id not in self._strands:
            self._meet(self._lookup.turn(turn_id))
        return self._strands[turn_id]

    def _meet(self, turn: Turn) -> None:
        """Hear of a turn; those of one agent are told apart by their number."""
        if turn.id in self._strands:
            return
        top = next(iter(self._strands.values()), None)
        depth = turn.place.depth - (top.turn if top else turn).place.depth
        self._namesakes[turn.agent] += 1
        number = self._namesakes[turn.agent]
        name = turn.agent if number == 1 else f"{turn.agent} {number}"
        self._strands[turn.id] = Strand(turn=turn, depth=depth, name=name)
        self._below.names[turn.id] = name

    def _do(self, strand: Strand, what: str) -> None:
        """Show on a terminal what a turn is busy with."""
        self._below.doing[strand.turn.id] = what
        if strand.is_top:
            self._below.waiting = what or "working"
        self._show_below()

    def _hear(self, strand: Strand, text: str) -> None:
        """Take more of what the model says."""
        if strand.is_whole:
            self._tell(strand)
        strand.text += plain(text)
        if self._text_out is None or not strand.is_top:
            self._show_below()
        else:
            self._below.hide()
            self._text_out.print(Text(plain(text)), end="", soft_wrap=True)

    def _answered(self, strand: Strand, message_id: object) -> None:
        """Have the whole text of a stored answer, of which nothing may have been streamed."""
        if strand.is_whole or not strand.text:
            self._hear(strand, self._lookup.text(strand.turn, message_id))
        strand.is_whole = True

    def _tell(self, strand: Strand) -> None:
        """Print what the model said, now that something else follows."""
        self._below.hide()
        if self._text_out is not None and strand.is_top:
            self._end_streamed_line(strand)
        elif strand.text.strip():
            print_text(self._out, strand.line(Text(strand.text.strip(), style="dim")))
        strand.forget()

    def _delegated(self, strand: Strand, body: JsonObject, name: object) -> None:
        """Show a call that other turns work on from now on."""
        child = f"  {body['turn_id']}" if "turn_id" in body else ""
        call = self._call(strand, body, name, beside=len(child))
        line = Text("▸ ", style="cyan").append(call, "not cyan dim")
        self._print(strand, line.append(child, "not cyan dim"))

    def _tool_ended(self, strand: Strand, body: JsonObject, at: float) -> None:
        status = str(body.get("status"))
        style = STYLES.get(status, "")
        name, _, arguments = self._call(strand, body, body.get("tool")).partition(" ")
        line = Text().append(f"{_MARKS.get(status, '·')} ", style=style)
        line.append(name).append(f" {arguments}" if arguments else "", style="dim")
        if status != "completed":
            error = self._lookup.error(strand.turn, body.get("execution_id"), status)
            line.append(f"  {status.replace('_', ' ')}", style=style)
            line.append(f": {error}" if error else "")
        seconds = at - strand.began.pop(body.get("execution_id"), at)
        if seconds >= _WORTH_TELLING:
            line.append(f"  {seconds:.1f}s", style="dim")
        self._print(strand, line)
        self._do(strand, "")

    def _ended(self, strand: Strand) -> None:
        """Show how a turn below the top one ended; its answer is its parent's to use."""
        turn = self._lookup.turn(strand.turn.id)
        if turn.error is None:
            strand.forget()
        status = turn.status.value
        line = Text(status, style=STYLES[status])
        if turn.error is not None:
            why = one_line(turn.error.message, _LONGEST_TEXT)
            line.append(f" ({turn.error.code}): {why}")
        self._print(strand, line.append(f" · {consumption([turn])}", "dim"))
        self._show_below()

    def _steered(self, strand: Strand, message_id: object) -> None:
        """Show an input: that it came, and its text once the model is to read it."""
        text = self._lookup.text(strand.turn, message_id) if message_id else ""
        said = f"new input: {one_line(text, _LONGEST_TEXT)}" if text else "input is queued"
        self._say(strand, f"» {said}", "cyan")

    def _asked(self, strand: Strand, body: JsonObject) -> None:
        """Show a call that somebody has to approve, and how to answer."""
        call = self._call(strand, body, body.get("tool"))
        why = f" ({one_line(str(body['reason']), _LONGEST_TEXT)})" if body.get("reason") else ""
        self._say(strand, f"◆ asks for approval: {call}{why}", "magenta")
        self._say(strand, f"  {how_to_answer(body)}", "magenta")

    def _was_answered(self, strand: Strand, body: JsonObject) -> None:
        reason = body.get("reason")
        why = f": {one_line(str(reason), _LONGEST_TEXT)}" if reason else ""
        by = f" by {json_text(body['answered_by'])}" if body.get("answered_by") else ""
        self._say(strand, f"◆ {body.get('answer')}{by}: {body.get('tool')}{why}", "magenta")

    def _retry(self, strand: Strand, attempt: object, delay: float, error: str) -> None:
        void = ""
        if self._text_out is None or not strand.is_top:
            strand.text = ""
        elif strand.text:
            void = "; what it had said is void"
        again = f"trying again in {delay:.1f}s"
        why = one_line(error, _LONGEST_TEXT)
        self._say(strand, f"↻ attempt {attempt} failed: {why}; {again}{void}", "yellow")
        self._do(strand, "")

    def _call(self, strand: Strand, body: JsonObject, name: object, *, beside: int = 0) -> str:
        """Write a call so that it fits on one line, with all that stands beside it."""
        limit = _LONGEST_CALL
        if self._out.is_terminal:
            room = self._out.width - strand.line(Text()).cell_len - beside - _AROUND_A_CALL
            limit = max(min(limit, room), _SHORTEST_CALL)
        return self._lookup.call(strand.turn.id, body.get("execution_id"), name, limit=limit)

    def _say(self, strand: Strand, line: str, style: str) -> None:
        self._print(strand, Text(one_line(line), style=style))

    def _print(self, strand: Strand, line: Text) -> None:
        self._tell(strand)
        print_text(self._out, strand.line(line))

    def _show_below(self) -> None:
        top = next(iter(self._strands.values()), None)
        said = top.text if top else ""
        if self._text_out is not None and said:
            return
        self._below.said = said
        self._below.show()

    def _end_streamed_line(self, strand: Strand) -> None:
        if self._text_out is None or not strand.is_top:
            return
        if strand.text and not strand.text.endswith("\n"):
            self._text_out.print()
