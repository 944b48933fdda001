"""What stands below the lines on a terminal, until it has passed."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from runner.cli.text import plain
from runner.cli.tree import Leaf, leaves
from runner.cli.tree_table import Knowledge, tree_table
from runner.core.clock import Clock
from runner.core.ids import TurnId
from runner.core.records import Turn

#: How much of what is being said is shown while it is.
_LINES_OF_TEXT: Final = 8
#: The heading of a tree, and what the terminal needs for itself; sums take another line.
_SPARE_LINES: Final = 3
_REFRESHES_PER_SECOND: Final = 12


class Below:
    """
    Shows what is being said and the tree as it is, or what is waited for while none is known.

    A thread of its own redraws it, so that times grow and the spinner turns; it reads what is set
    here and takes no lock. A file has nothing of it.
    """

    def __init__(self, out: Console, clock: Clock) -> None:
        self.names = dict[TurnId, str]()
        self.doing = dict[TurnId, str]()
        self.turns: Sequence[Turn] = ()
        self.waiting = ""
        self.said = ""
        #: Nothing is shown while a person is asked something.
        self.is_held = False
        self._out = out
        self._clock = clock
        self._spinner = Spinner("dots")
        self._live: Live | None = None

    def show(self) -> None:
        if not self._out.is_terminal or self.is_held:
            return
        if self._live is not None:
            self._live.refresh()
            return
        self._live = Live(
            get_renderable=self._drawn,
            console=self._out,
            transient=True,
            refresh_per_second=_REFRESHES_PER_SECOND,
            vertical_overflow="crop",
        )
        self._live.start(refresh=True)

    def hide(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def stop(self) -> None:
        """Leave a tree of several turns standing, and know nothing any more."""
        self.hide()
        if self._out.is_terminal and len(self.turns) > 1:
            self._out.print(self._table(self.turns, leaves(self.turns)))
        self.names, self.doing = {}, {}
        self.turns, self.said, self.waiting = (), "", ""

    def _drawn(self) -> RenderableType:
        said = self.said.strip().splitlines()[-_LINES_OF_TEXT:]
        text = Text(plain("\n".join(said)), style="dim")
        frame = self._spinner.render(self._out.get_time())
        mark = frame.plain if isinstance(frame, Text) else ""
        turns = self.turns
        if turns:
            spare = _SPARE_LINES + (len(turns) > 1)
            room = max(self._out.height - len(said) - spare, 1)
            below: RenderableType = self._table(
                turns, leaves(turns, height=room)[:room], running=mark
            )
        else:
            below = Text(f"{mark} ", style="cyan").append(plain(self.waiting), "not cyan dim")
        return Group(text, below) if said else below

    def _table(
        self, turns: Sequence[Turn], shown: Sequence[Leaf], *, running: str = ""
    ) -> RenderableType:
        now = self._clock.now()
        known = Knowledge(now=now, doing=self.doing, names=self.names, running=running)
        return tree_table(shown, known, total=turns, width=self._out.width)
