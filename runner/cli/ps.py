"""`runner ps`: list turns, newest first."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

import typer

from runner.cli.console import console, print_json, print_table
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.shapes import turn_json
from runner.cli.text import span
from runner.core.ports import TurnFilter
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)

#: What `--all` lists at most: everything.
_ALL: Final = sys.maxsize
_COLUMNS: Final = ("TURN", "STATUS", "AGE", "AGENT", "ITER", "TOOLS", "PHASE", "CONVERSATION")


@app.command()
def ps(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="List all, not only the newest.")] = False,
    status: Annotated[
        list[TurnStatus] | None, typer.Option(help="Only turns with this status; repeatable.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only turns of this agent.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List turns, newest first."""
    which = TurnFilter(statuses=tuple(status or ()), agent=agent, limit=_ALL if every else limit)
    with open_runner(ctx) as runner:
        turns = runner.turns(which)
        now = runner.wiring.clock.now()
    if as_json:
        print_json([turn_json(turn) for turn in turns])
    elif turns:
        print_table(console(), _COLUMNS, _rows(turns, now))
    else:
        print("there are no such turns" if status or agent else "there are no turns yet")


def _rows(turns: Sequence[Turn], now: datetime) -> list[tuple[str, ...]]:
    return [
        (
            turn.id,
            turn.status.value,
            span(now - turn.created_at) if turn.created_at else "",
            turn.agent,
            str(turn.iterations),
            str(turn.tool_executions),
            "" if turn.status.is_ended else turn.phase.value,
            turn.conversation_id,
        )
        for turn in turns
    ]
