"""A tree of turns as it is laid out: one line a turn."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from runner.cli.console import STYLES
from runner.cli.money import short_cost
from runner.cli.text import one_line
from runner.cli.total import Total
from runner.core.ids import TurnId
from runner.core.records import Turn

#: Where a turn stands below its parent, and what leads past it to those below it.
_BRANCH, _LAST_BRANCH = ("├─ ", "│  "), ("└─ ", "   ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A turn with the lines that lead to it, or the number of turns that are left out there."""

    lines: str = ""
    turn: Turn | None = None
    left_out: int = 0


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


def tree_lines(turns: Sequence[Turn]) -> Iterator[Text]:
    """Draw a tree with the ids of its turns and what each cost."""
    for leaf in leaves(turns):
        if leaf.turn is not None:
            status = leaf.turn.status.value
            line = Text(leaf.lines, style="dim").append(one_line(leaf.turn.agent), "not dim")
            line.append(f"  {status}", f"not dim {STYLES[status]}").append(f"  {leaf.turn.id}")
            total = Total.of([leaf.turn])
            yield line.append(f"  {short_cost(total.cost)}" if total.tokens else "", "not dim")


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
