"""A tree of turns as a table: what each is busy with, and what it has used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from rich.table import Table
from rich.text import Text

from runner.cli.console import STYLES
from runner.cli.money import short_cost
from runner.cli.text import count, one_line, span
from runner.cli.total import Total
from runner.cli.tree import Leaf
from runner.core.ids import TurnId
from runner.core.records import Turn
from runner.core.states import Phase, TurnStatus

_MARKS: Final[Mapping[TurnStatus, str]] = {
    TurnStatus.PREPARED: "·",
    TurnStatus.PENDING: "·",
    TurnStatus.RUNNING: "▸",
    TurnStatus.WAITING: "…",
    TurnStatus.PAUSED: "‖",
    TurnStatus.STALE: "?",
    TurnStatus.COMPLETED: "✓",
    TurnStatus.FAILED: "✗",
    TurnStatus.CANCELLED: "-",
}
_BUSY_WITH: Final[Mapping[Phase, str]] = {
    Phase.MODEL: "asking the model",
    Phase.TOOLS: "running tools",
    Phase.OUTPUT: "checking the answer",
}
#: The one without a heading is what a turn is busy with.
_COLUMNS: Final = ("AGENT", "STATUS", "", "ITER", "TOOLS", "TIME", "TOKENS", "COST")
_NUMBERS: Final = frozenset({"ITER", "TOOLS", "TIME", "TOKENS", "COST"})
#: What is left out where it is narrow, one after the other.
_DISPENSABLE: Final = ("ITER", "TOOLS", "TOKENS", "TIME")
#: What a turn is busy with has so much room at least.
_LEAST_ROOM: Final = 8
_GAP: Final = 2

#: The cells of a line by their heading; those left out are empty.
_Cells: TypeAlias = Mapping[str, Text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of a tree beside its turns."""

    now: datetime
    #: What each turn is busy with.
    doing: Mapping[TurnId, str] = field(default_factory=dict)
    #: What each turn is called; by its agent where nothing else is said.
    names: Mapping[TurnId, str] = field(default_factory=dict)
    #: What stands before a running turn in place of its mark.
    running: str = ""


def tree_table(
    leaves: Sequence[Leaf], known: Knowledge, *, total: Sequence[Turn] = (), width: int = 0
) -> Table:
    """
    Draw a tree.

    Args:
        leaves: Its lines.
        known: What is known beside them.
        total: The whole tree, its top first, for a last line where it has several turns.
        width: How much room there is; where it is not enough, what matters least is left out.
            Without it, all is drawn.
    """
    lines = [_cells(leaf, known) for leaf in leaves]
    if len(total) > 1:
        lines.append(_sums(total, known))
    headings = _fitting(lines, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for heading in headings:
        is_number = heading in _NUMBERS
        table.add_column(
            heading,
            no_wrap=bool(heading),  # where it is narrow, what they are busy with gives way
            overflow="ellipsis",
            justify="right" if is_number else "left",
            min_width=_widest(lines, heading) if is_number else None,
        )
    for line in lines:
        table.add_row(*(line.get(heading, Text()) for heading in headings))
    return table


def _fitting(lines: Sequence[_Cells], width: int) -> Sequence[str]:
    """Choose the columns there is room for."""
    shown = list(_COLUMNS)
    for heading in _DISPENSABLE if width else ():
        needed = sum(_widest(lines, each) + _GAP for each in shown) - _GAP
        if needed <= width:
            break
        shown.remove(heading)
    return shown


def _widest(lines: Sequence[_Cells], heading: str) -> int:
    widths = (line[heading].cell_len for line in lines if heading in line)
    widest = max(widths, default=0)
    return max(widest, len(heading)) if heading else min(widest, _LEAST_ROOM)


def _cells(leaf: Leaf, known: Knowledge) -> _Cells:
    head = Text(leaf.lines, style="dim")
    turn = leaf.turn
    if turn is None:
        return {"AGENT": head.append(f"{count(leaf.left_out, 'turn')} more, ended")}
    status = turn.status.value
    style = STYLES[status]
    is_running = turn.status is TurnStatus.RUNNING
    mark = known.running if is_running and known.running else _MARKS[turn.status]
    name = known.names.get(turn.id, turn.agent)
    return {
        "AGENT": head.append(f"{mark} ", f"not dim {style}").append(one_line(name), "not dim"),
        "STATUS": Text(status, style=style),
        "": Text(one_line(_doing(turn, known)), style="dim", no_wrap=True, overflow="ellipsis"),
        "TIME": Text(_elapsed(turn, known.now)),
        **dict(_used(Total.of([turn]))),
    }


def _sums(turns: Sequence[Turn], known: Knowledge) -> _Cells:
    cells = {
        "AGENT": Text("whole tree"),
        "STATUS": Text(count(len(turns), "turn")),
        "TIME": Text(_elapsed(turns[0], known.now)),
        **dict(_used(Total.of(turns))),
    }
    for cell in cells.values():
        cell.stylize("bold")
    return cells


def _used(total: Total) -> Iterator[tuple[str, Text]]:
    yield "ITER", Text(str(total.iterations))
    yield "TOOLS", Text(str(total.tool_executions))
    yield "TOKENS", Text(f"{total.tokens:,}")
    if total.tokens:
        yield "COST", Text(short_cost(total.cost))


def _doing(turn: Turn, known: Knowledge) -> str:
    match turn.status:
        case TurnStatus.RUNNING:
            what = known.doing.get(turn.id) or _BUSY_WITH[turn.phase]
            return f"(to be paused) {what}" if turn.pause_requested else what
        case TurnStatus.WAITING:
            return f"for {_waits_for(turn)}"
        case TurnStatus.PENDING:
            return _due(turn)
        case TurnStatus.STALE:
            return "its process died"
        case _:
            return turn.error.code if turn.error else ""


def _waits_for(turn: Turn) -> str:
    """Say what keeps a turn waiting."""
    turns = count(turn.open_waits, "turn")
    if not turn.open_approvals:
        return turns
    asked = count(turn.open_approvals, "approval")
    return f"{asked} and {turns}" if turn.open_waits else asked


def _due(turn: Turn) -> str:
    if turn.cancel_requested:
        return "to be cancelled"
    return "to be tried again" if turn.not_before else "no worker yet"


def _elapsed(turn: Turn, now: datetime) -> str:
    return span((turn.ended_at or now) - turn.started_at) if turn.started_at else ""
