"""`runner ps`: list turns, newest first."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Final

import typer
from rich.text import Text

from runner.bootstrap.runner import Runner
from runner.cli.console import console, print_json, print_table
from runner.cli.money import short_cost
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.shapes import turn_json
from runner.cli.text import count, span
from runner.cli.tree import Leaf, leaves
from runner.core.cost import Cost
from runner.core.model import Usage
from runner.core.ports import TurnFilter
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)

#: What `--all` lists at most: everything.
_ALL: Final = sys.maxsize
_COLUMNS: Final = (
    *("TURN", "STATUS", "AGE", "AGENT", "ITER", "TOOLS", "BELOW", "COST", "PHASE", "CONVERSATION"),
)


@app.command()
def ps(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="List all, not only the newest.")] = False,
    status: Annotated[
        list[TurnStatus] | None, typer.Option(help="Only turns with this status; repeatable.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only turns of this agent.")] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="List the turns below each root beneath it.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """
    List turns, newest first.

    Turns that others started are counted under BELOW, and listed with --tree. With --status or
    --agent, and without --tree, turns are listed wherever in a tree they are. COST is that of a
    turn with all below it, and with --tree its own.
    """
    which = TurnFilter(
        statuses=tuple(status or ()),
        agent=agent,
        roots=tree or not (status or agent),
        limit=_ALL if every else limit,
    )
    with open_runner(ctx) as runner:
        listed = tuple(_listed(runner, runner.turns(which), tree=tree))
        costs = {} if tree or as_json else runner.costs(turn.id for _, turn in listed)
        now = runner.wiring.clock.now()
    if as_json:
        print_json([turn_json(turn) for _, turn in listed])
    elif listed:
        rows = [_row(lines, turn, costs.get(turn.id, turn.cost), now) for lines, turn in listed]
        print_table(console(), _COLUMNS, rows)
    else:
        print("there are no such turns" if status or agent else "there are no turns yet")


def _listed(runner: Runner, turns: Sequence[Turn], *, tree: bool) -> Iterator[tuple[str, Turn]]:
    """Yield turns with the lines that lead to them."""
    for turn in turns:
        has_more = tree and turn.use.children
        shown = leaves(runner.tree(turn.id)) if has_more else [Leaf(turn=turn)]
        yield from ((leaf.lines, leaf.turn) for leaf in shown if leaf.turn is not None)


def _busy_with(turn: Turn) -> str:
    if turn.open_approvals:
        return f"asks for {count(turn.open_approvals, 'approval')}"
    return "" if turn.status.is_ended else turn.phase.value


def _row(lines: str, turn: Turn, cost: Cost, now: datetime) -> tuple[str | Text, ...]:
    return (
        Text(lines, style="dim").append(turn.id, "not dim"),
        turn.status.value,
        span(now - turn.created_at) if turn.created_at else "",
        turn.agent,
        str(turn.iterations),
        str(turn.tool_executions),
        str(turn.use.children) if turn.place.is_root else "",
        short_cost(cost) if cost != Cost() or turn.usage != Usage() else "",
        _busy_with(turn),
        turn.conversation_id,
    )
