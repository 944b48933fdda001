"""`runner approvals`: list the calls that wait for somebody to approve them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer
from rich.text import Text

from runner.cli.asked import particulars, stand
from runner.cli.console import console, print_json, print_text
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Principal
from runner.cli.shapes import approval_json
from runner.core import ids
from runner.core.approvals import Approval
from runner.core.ports import ApprovalFilter

app = typer.Typer(add_completion=False)


@app.command()
def approvals(
    ctx: typer.Context,
    turn_id: Annotated[
        str | None, typer.Option("--turn", metavar="TURN", help="Only those of this turn.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List answered ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    List the calls that wait for somebody to approve them.

    Those that were asked first come first: with the agents that lead to each, the exact arguments,
    the rule, and until when there is time.
    """
    which = ApprovalFilter(
        turn_id=None if turn_id is None else ids.TurnId(turn_id), answered=every, limit=limit
    )
    with open_runner(ctx, principal=principal) as runner:
        if turn_id is not None:
            runner.turn(turn_id)
        found = runner.approvals(which)
        now = runner.wiring.clock.now()
    if as_json:
        print_json([approval_json(each) for each in found])
    elif found:
        _print(found, now)
    else:
        print("nothing waits for an approval" if not every else "nothing was asked yet")


def _print(found: Sequence[Approval], now: datetime) -> None:
    out = console()
    for place, approval in enumerate(found):
        if place:
            out.print()
        print_text(out, Text(approval.id, "bold").append(f"  {stand(approval)}", "not bold dim"))
        for line in particulars(approval, now):
            print_text(out, f"  {line}")
