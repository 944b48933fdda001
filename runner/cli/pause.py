"""`runner pause`: stop a turn where it is."""

import typer

from runner.cli.opening import open_runner, visible_tree
from runner.cli.options import AsJson, Principal, ReachOption, TurnId
from runner.cli.receipts import print_receipts
from runner.core.coordination import Reach, Receipt, ReceiptState
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)


@app.command()
def pause(
    ctx: typer.Context,
    turn_id: TurnId,
    reach: ReachOption = Reach.CASCADE,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Stop a turn, and everything below it, until it is resumed.

    One that runs finishes the request or the tool call it is in the middle of. One that is only
    prepared is paused as soon as it is submitted.
    """
    with open_runner(ctx, principal=principal) as runner:
        receipts = runner.pause(turn_id, reach=reach)
        print_receipts(receipts, visible_tree(runner, turn_id), _worded, as_json=as_json)


def _worded(receipt: Receipt, turn: Turn) -> str:
    if turn.status is TurnStatus.PAUSED:
        return "paused"
    if receipt.state is ReceiptState.UNCHANGED:
        return "is being cancelled" if turn.cancel_requested else f"is {turn.status.value} already"
    if receipt.status is TurnStatus.PREPARED:
        return "is paused as soon as it is submitted"
    return "pauses after what it is in the middle of"
