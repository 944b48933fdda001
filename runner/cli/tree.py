"""A tree of turns as people see it: one line a turn."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from rich.table import Table
from rich.text import Text

from runner.cli.console import STYLES
from runner.cli.text import count, one_line, span
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
_COLUMNS: Final = ("AGENT", "STATUS", "", "ITER", "TOOLS", "TIME", "TOKENS")
#: Where a turn stands below its parent, and what leads past it to those below it.
_BRANCH, _LAST_BRANCH = ("├─ ", "│  "), ("└─ ", "   ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A turn with the lines that lead to it, or the number of turns that are left out there."""

    lines: str = ""
    turn: Turn | None = None
    left_out: int = 0


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


def leaves(turns: Sequence[Turn], *, height: int = 0) -> Sequence[Leaf]:
    """
    Lay out a tree, which comes parents before children.

    Args:
        turns: The tree, its top first.
        height: How many lines there is room for; where it is not enough, ended turns with nothing
            that goes on below them are left out. Without it, all are shown.
    """
    below = defaultdict[TurnId | None, list[Turn]](list)
    for turn in turns[1:]:
        below[turn.place.parent_id].append(turn)
    left_out = _over(turns) if 0 < height < len(turns) else frozenset[TurnId]()
    top = turns[0]
    return [Leaf(turn=top), *_below(top, below, left_out, "")]


def tree_table(leaves: Sequence[Leaf], known: Knowledge) -> Table:
    """Draw a tree with what each turn is busy with and has used."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(_COLUMNS):
        is_number = place > _COLUMNS.index("")
        table.add_column(
            heading,
            no_wrap=bool(heading),  # where it is narrow, what they are busy with gives way
            overflow="ellipsis",
            justify="right" if is_number else "left",
            min_width=len(heading) if is_number else None,
        )
    for leaf in leaves:
        table.add_row(*_cells(leaf, known))
    return table


def tree_lines(turns: Sequence[Turn]) -> Iterator[Text]:
    """Draw a tree with the ids of its turns."""
    for leaf in leaves(turns):
        if leaf.turn is not None:
            status = leaf.turn.status.value
            line = Text(leaf.lines, style="dim").append(one_line(leaf.turn.agent), "not dim")
            yield line.append(f"  {status}", f"not dim {STYLES[status]}").append(
                f"  {leaf.turn.id}"
            )


def _below(
    parent: Turn,
    below: Mapping[TurnId | None, Sequence[Turn]],
    left_out: frozenset[TurnId],
    lines: str,
) -> Iterator[Leaf]:
    children = below.get(parent.id, ())
    shown = [child for child in children if child.id not in left_out]
    hidden = len(children) - len(shown)
    for place, child in enumerate(shown, start=1):
        branch, past = _LAST_BRANCH if place == len(shown) and not hidden else _BRANCH
        yield Leaf(lines=lines + branch, turn=child)
        yield from _below(child, below, left_out, lines + past)
    if hidden:
        yield Leaf(lines=lines + _LAST_BRANCH[0], left_out=hidden)


def _over(turns: Sequence[Turn]) -> frozenset[TurnId]:
    """Return the turns that have ended with everything below them."""
    goes_on = set[TurnId | None]()
    for turn in reversed(turns):
        if turn.id in goes_on or not turn.status.is_ended:
            goes_on |= {turn.id, turn.place.parent_id}
    return frozenset(turn.id for turn in turns if turn.id not in goes_on)


def _cells(leaf: Leaf, known: Knowledge) -> Sequence[Text]:
    head = Text(leaf.lines, style="dim")
    turn = leaf.turn
    if turn is None:
        return [head.append(f"{count(leaf.left_out, 'turn')} more, ended")]
    status = turn.status.value
    style = STYLES[status]
    is_running = turn.status is TurnStatus.RUNNING
    mark = known.running if is_running and known.running else _MARKS[turn.status]
    name = known.names.get(turn.id, turn.agent)
    usage = turn.usage
    tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return [
        head.append(f"{mark} ", f"not dim {style}").append(one_line(name), "not dim"),
        Text(status, style=style),
        Text(one_line(_doing(turn, known)), style="dim", no_wrap=True, overflow="ellipsis"),
        Text(str(turn.iterations)),
        Text(str(turn.tool_executions)),
        Text(_elapsed(turn, known.now)),
        Text(f"{tokens + usage.output_tokens:,}"),
    ]


def _doing(turn: Turn, known: Knowledge) -> str:
    match turn.status:
        case TurnStatus.RUNNING:
            what = known.doing.get(turn.id) or _BUSY_WITH[turn.phase]
            return f"(to be paused) {what}" if turn.pause_requested else what
        case TurnStatus.WAITING:
            return f"for {waits_for(turn)}"
        case TurnStatus.PENDING:
            return _due(turn)
        case TurnStatus.STALE:
            return "its process died"
        case _:
            return turn.error.code if turn.error else ""


def waits_for(turn: Turn) -> str:
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
