"""One turn's part of what is shown of a tree."""

from dataclasses import dataclass, field

from rich.text import Text

from runner.cli.text import one_line
from runner.core.records import Turn


@dataclass(slots=True, kw_only=True)
class Strand:
    """What is remembered of a turn while it is shown."""

    #: As it was when it was first heard of.
    turn: Turn
    #: Levels below the turn that is looked at.
    depth: int
    #: What its lines begin with; nothing at the top.
    name: str
    #: What the model said since the last line.
    text: str = ""
    #: Whether that is an answer that has ended.
    is_whole: bool = False
    #: When each call began, in seconds, by the id of its execution.
    began: dict[object, float] = field(default_factory=dict)

    @property
    def is_top(self) -> bool:
        return self.depth == 0

    def forget(self) -> None:
        """Let go of what the model said."""
        self.text, self.is_whole = "", False

    def line(self, shown: Text) -> Text:
        """Put what is shown of the turn at its place, each line after its name."""
        if self.is_top:
            return shown
        head = Text("  " * self.depth).append(f"{one_line(self.name)}  ", "cyan")
        return Text("\n").join(head.copy().append_text(line) for line in shown.split())
