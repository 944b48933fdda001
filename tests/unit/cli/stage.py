"""A progress view with a turn to show, and what it printed."""

from io import StringIO

from rich.console import Console

from runner.cli.progress import Progress
from runner.cli.text import plain
from runner.core.ids import TurnId
from runner.core.model import TextDelta
from runner.core.states import TurnStatus
from tests.fakes.clock import FakeClock
from tests.unit.cli.scenes import TURN, Stored, turn

CHILD, OTHER = TurnId("turn_2"), TurnId("turn_3")


class Stage:
    """A progress, and what it printed so far."""

    def __init__(self, *, terminal: bool = False, chat: bool = False, width: int = 100) -> None:
        self._lines = StringIO()
        self._text = StringIO()
        self.stored = Stored()
        out = Console(
            file=self._lines, force_terminal=terminal, width=width, markup=False, highlight=False
        )
        text_out = Console(file=self._text, width=100, markup=False) if chat else None
        self.progress = Progress(out, FakeClock(), self.stored, text_out=text_out)

    def event(
        self, kind: str, *, at: float = 0, of: TurnId = TURN, **body: str | float | None
    ) -> None:
        self.progress.on_event(of, kind, body, at=at)

    def say(self, *texts: str, of: TurnId = TURN) -> None:
        for text in texts:
            self.progress.on_delta(of, TextDelta(text=text))

    @property
    def lines(self) -> list[str]:
        return self._lines.getvalue().splitlines()

    @property
    def plain_lines(self) -> list[str]:
        return [plain(line) for line in self.lines]

    @property
    def shown(self) -> str:
        return self._lines.getvalue()

    @property
    def text(self) -> str:
        return self._text.getvalue()


def family(stage: Stage, *children: TurnStatus) -> None:
    """Let the turn have children of one agent."""
    below = [
        turn(status, turn_id=turn_id, parent=TURN, agent="scout")
        for turn_id, status in zip((CHILD, OTHER), children, strict=False)
    ]
    stage.stored.turns = [turn(TurnStatus.WAITING), *below]
