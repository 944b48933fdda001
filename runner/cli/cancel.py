"""`runner cancel`: end a turn before it has ended by itself."""

import typer

from runner.cli.opening import open_runner, visible_tree
from runner.cli.options import AsJson, Principal, ReachOption, TurnId
from runner.cli.receipts import print_receipts
from runner.core.coordination import Reach, Receipt
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)


@app.command()
def cancel(
    ctx: typer.Context,
    turn_id: TurnId,
    reach: ReachOption = Reach.CASCADE,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    End a turn, and everything below it, before it has ended by itself.

    It works whoever runs the turn and whether anyone does. A request or a tool call under way is
    given up, and every open call gets a result that says so.
    """
    with open_runner(ctx, principal=principal) as runner:
        receipts = runner.cancel(turn_id, reach=reach)
        print_receipts(receipts, visible_tree(runner, turn_id), _worded, as_json=as_json)


def _worded(_: Receipt, turn: Turn) -> str:
    # What had started is only asked to end; mostly it has by now.
    if turn.status is TurnStatus.CANCELLED:
        return "cancelled"
    return "asked to end; a worker closes its open calls first"
