from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from runner.cli.tree import Leaf, leaves
from runner.cli.tree_table import Knowledge, tree_table
from runner.core.cost import Cost
from runner.core.ids import TurnId
from runner.core.model import Usage
from runner.core.records import Turn, TurnError
from runner.core.states import Phase, TurnStatus
from tests.unit.cli.scenes import NOON, TURN, turn

RUNNING, COMPLETED = TurnStatus.RUNNING, TurnStatus.COMPLETED


def at(number: int, status: TurnStatus, *, below: int = 1) -> Turn:
    """A turn with a number, below another."""
    return turn(status, turn_id=TurnId(f"turn_{number}"), parent=TurnId(f"turn_{below}"))


def drawn(leaves: Sequence[Leaf]) -> list[str]:
    return [
        f"{leaf.lines}{leaf.turn.id if leaf.turn else f'({leaf.left_out} left out)'}"
        for leaf in leaves
    ]


def row(shown: Turn, known: Knowledge | None = None) -> list[str]:
    """The cells of a turn's line."""
    lines = StringIO()
    table = tree_table([Leaf(turn=shown)], known or Knowledge(now=NOON))
    Console(file=lines, width=200, markup=False, highlight=False).print(table)
    return lines.getvalue().splitlines()[1].split()


def test_turns_stand_below_the_one_that_launched_them() -> None:
    tree = [
        turn(RUNNING),
        at(2, RUNNING),
        at(3, COMPLETED),
        at(4, RUNNING, below=2),
        at(5, RUNNING, below=2),
        at(6, RUNNING, below=3),
    ]

    assert drawn(leaves(tree)) == [
        "turn_1",
        "├─ turn_2",
        "│  ├─ turn_4",
        "│  └─ turn_5",
        "└─ turn_3",
        "   └─ turn_6",
    ]


def test_where_there_is_no_room_ended_turns_are_counted_instead() -> None:
    tree = [
        turn(RUNNING),
        at(2, COMPLETED),
        at(3, COMPLETED),
        at(4, COMPLETED),
        at(5, RUNNING),
        at(6, RUNNING, below=2),
    ]

    assert drawn(leaves(tree, height=5)) == [
        "turn_1",
        "├─ turn_2",
        "│  └─ turn_6",
        "├─ turn_5",
        "└─ (2 left out)",
    ]
    assert len(leaves(tree, height=6)) == 6


def test_what_leads_to_a_turn_that_goes_on_is_not_left_out() -> None:
    tree = [turn(RUNNING), at(2, COMPLETED), at(3, COMPLETED, below=2), at(4, RUNNING, below=3)]

    assert drawn(leaves(tree, height=2)) == [
        "turn_1",
        "└─ turn_2",
        "   └─ turn_3",
        "      └─ turn_4",
    ]


def test_a_line_says_what_a_turn_is_busy_with_and_what_it_has_used() -> None:
    known = Knowledge(
        now=NOON + timedelta(seconds=4), doing={TURN: "search {}"}, names={TURN: "scout"}
    )

    assert row(turn(RUNNING), known) == [
        *("▸", "scout", "running", "search", "{}", "2", "1", "4.0s", "1,245", "$0.0312"),
    ]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (turn(RUNNING), "asking the model"),
        (replace(turn(RUNNING), phase=Phase.TOOLS), "running tools"),
        (replace(turn(RUNNING), pause_requested=True), "(to be paused) asking the model"),
        (replace(turn(TurnStatus.WAITING), open_waits=2), "for 2 turns"),
        (turn(TurnStatus.PENDING), "no worker yet"),
        (replace(turn(TurnStatus.PENDING), not_before=NOON), "to be tried again"),
        (replace(turn(TurnStatus.PENDING), cancel_requested=True), "to be cancelled"),
        (turn(TurnStatus.STALE), "its process died"),
        (turn(TurnStatus.FAILED, error=TurnError(code="limit", message="over")), "limit"),
    ],
)
def test_a_line_says_what_a_turn_is_about(shown: Turn, said: str) -> None:
    cells = row(shown)

    assert cells[2:-5] == [shown.status.value, *said.split()]


@pytest.mark.parametrize("status", [COMPLETED, TurnStatus.CANCELLED, TurnStatus.PAUSED])
def test_where_there_is_nothing_to_say_nothing_is_said(status: TurnStatus) -> None:
    assert row(turn(status))[2:-5] == [status.value]


def test_a_turn_that_has_not_started_has_no_time() -> None:
    unstarted = replace(turn(TurnStatus.PAUSED), started_at=None)

    assert row(unstarted)[3:] == ["2", "1", "1,245", "$0.0312"]


def test_turns_that_are_left_out_are_told_by_their_number() -> None:
    lines = StringIO()
    table = tree_table([Leaf(lines="└─ ", left_out=2)], Knowledge(now=NOON))

    Console(file=lines, width=200).print(table)

    assert lines.getvalue().splitlines()[1].strip() == "└─ 2 turns more, ended"


def test_a_turn_that_asked_nothing_yet_has_no_cost() -> None:
    assert row(replace(turn(RUNNING), usage=Usage(), cost=Cost()))[-1] == "0"


def test_what_has_no_price_is_said_to_have_none() -> None:
    assert row(replace(turn(RUNNING), cost=Cost(unpriced_requests=2)))[-2:] == ["1,245", "unpriced"]


def drawn_at(width: int, tree: Sequence[Turn], known: Knowledge) -> list[str]:
    """The lines of a tree on a terminal."""
    lines = StringIO()
    table = tree_table(leaves(tree), known, total=tree, width=width)
    Console(file=lines, width=width, markup=False, highlight=False).print(table)
    return [line.rstrip() for line in lines.getvalue().splitlines()]


def test_a_tree_ends_with_what_it_took_as_a_whole() -> None:
    unpriced = replace(at(2, COMPLETED), cost=Cost(unpriced_requests=1))
    tree = [turn(RUNNING), unpriced, at(3, COMPLETED)]

    last = drawn_at(120, tree, Knowledge(now=NOON + timedelta(seconds=4)))[-1]

    assert last.split() == ["whole", "tree", "3", "turns", "6", "3", "4.0s", "3,735", "≥$0.0624"]


def test_a_turn_alone_has_no_sums() -> None:
    assert len(drawn_at(120, [turn(RUNNING)], Knowledge(now=NOON))) == 2


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (120, ["AGENT", "STATUS", "ITER", "TOOLS", "TIME", "TOKENS", "COST"]),
        (68, ["AGENT", "STATUS", "ITER", "TOOLS", "TIME", "TOKENS", "COST"]),
        (62, ["AGENT", "STATUS", "TOOLS", "TIME", "TOKENS", "COST"]),
        (60, ["AGENT", "STATUS", "TIME", "TOKENS", "COST"]),
        (47, ["AGENT", "STATUS", "TIME", "COST"]),
        (40, ["AGENT", "STATUS", "COST"]),
        (20, ["AGENT", "STATUS", "COST"]),
    ],
)
def test_where_it_is_narrow_what_matters_least_is_left_out(width: int, headings: list[str]) -> None:
    tree = [turn(RUNNING), at(2, COMPLETED)]

    lines = drawn_at(width, tree, Knowledge(now=NOON))

    assert all(len(line) <= width for line in lines)
    if width > 20:
        assert lines[0].split() == headings


@pytest.mark.parametrize("width", [60, 120])
def test_on_any_terminal_each_turn_is_one_line_with_its_cost(width: int) -> None:
    tree = [turn(RUNNING, agent="editor"), at(2, COMPLETED), at(3, RUNNING, below=2)]
    known = Knowledge(now=NOON, doing={TurnId("turn_3"): 'search {"q": "everything there is"}'})

    lines = drawn_at(width, tree, known)

    assert len(lines) == 5
    assert all(line.endswith("$0.0312") for line in lines[1:-1])
    assert lines[-1].endswith("$0.0936")
    assert "search" in lines[3]


def test_where_it_is_narrow_what_a_turn_is_busy_with_gives_way() -> None:
    known = Knowledge(now=NOON, doing={TURN: 'search {"q": "everything"}'})

    heading, line = drawn_at(60, [turn(RUNNING)], known)

    assert heading.split() == ["AGENT", "STATUS", "TOOLS", "TIME", "TOKENS", "COST"]
    assert "search" in line
    assert "…" in line
    assert line.split()[-4:] == ["1", "0.0s", "1,245", "$0.0312"]


@pytest.mark.parametrize(
    ("waits", "approvals", "said"),
    [
        (2, 0, "for 2 turns"),
        (0, 1, "for 1 approval"),
        (1, 2, "for 2 approvals and 1 turn"),
    ],
)
def test_a_waiting_turn_says_what_it_waits_for(waits: int, approvals: int, said: str) -> None:
    waiting = replace(turn(TurnStatus.WAITING), open_waits=waits, open_approvals=approvals)

    assert said in " ".join(row(waiting))
