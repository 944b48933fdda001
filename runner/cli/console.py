"""Where output goes: people's on a console, programs' as JSON."""

import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.cli.text import json_text, one_line, plain

#: How each status is coloured, of a turn, an execution or a check.
STYLES: Final[Mapping[str, str]] = {
    "completed": "green",
    "ok": "green",
    "running": "cyan",
    "pending": "yellow",
    "waiting": "blue",
    "paused": "magenta",
    "stale": "red",
    "asking": "magenta",
    "ready": "yellow",
    "planned": "dim",
    "warning": "yellow",
    "interrupted": "yellow",
    "timed_out": "red",
    "failed": "red",
    "refused": "red",
    "prepared": "dim",
    "skipped": "dim",
    "cancelled": "dim",
}
#: A file has no edge, and whoever searches it wants a row on one line.
_WIDTH_OF_A_FILE: Final = 400
#: Spaces between columns.
_GAP: Final = 2


def console() -> Console:
    """Open standard output for people; what is printed is text, never markup."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_A_FILE
    return Console(width=width, markup=False, emoji=False, highlight=False)


def print_json(value: object) -> None:
    """Print one document."""
    print(json_text(value, indent=2))


def print_json_line(value: object) -> None:
    """Print one document of a stream, at once."""
    print(json_text(value), flush=True)


def print_text(out: Console, text: Text | str, *, style: str = "") -> None:
    """Print text, which is broken between words on a terminal and nowhere in a file."""
    out.print(text, style=style or None, soft_wrap=not out.is_terminal)


def block(text: str, *, indent: int = 2, style: str = "") -> Text:
    """Show foreign text as it is, moved in."""
    return Text(textwrap.indent(plain(text).strip("\n"), " " * indent), style=style)


def print_table(
    out: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    *,
    wraps: Collection[str] = (),
) -> None:
    """
    Lay out rows beneath their headings.

    Args:
        out: Where to.
        columns: The headings, the most important first.
        rows: A cell for each heading; text of ours that is to stay as it is comes as `Text`.
        wraps: The columns that give way when the terminal is narrow; where there are none, the
            last columns are left out, so that ids stay whole.
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    shown = len(columns) if wraps else _fitting(columns, cells, out.width)
    for place, heading in enumerate(columns[:shown]):
        is_numeric = _are_numbers([row[place].plain for row in cells])
        grid.add_column(
            heading,
            no_wrap=heading not in wraps,
            overflow="fold",
            justify="right" if is_numeric else "left",
        )
    for row in cells:
        grid.add_row(*row[:shown])
    with out.capture() as captured:
        out.print(grid)
    for line in captured.get().splitlines():
        print(line.rstrip(), file=out.file)


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> int:
    """Count the columns that fit beside each other."""
    widths = [
        max(len(heading), *(row[place].cell_len for row in rows))
        for place, heading in enumerate(columns)
    ]
    ends = accumulate(widths, lambda end, more: end + _GAP + more)
    return max(sum(end <= width for end in ends), 1)


def _are_numbers(column: Sequence[str]) -> bool:
    """Say whether there are only numbers and amounts in a column, and at least one."""
    filled = [cell.lstrip("<>≥$").replace(",", "").replace(".", "") for cell in column if cell]
    return bool(filled) and all(cell.isdigit() for cell in filled)


def _cell(text: str | Text) -> Text:
    if isinstance(text, Text):
        return text
    line = one_line(text)
    return Text(line, style=STYLES.get(line, ""))
