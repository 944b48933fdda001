"""`runner resume`: let a paused or stale turn go on."""

import sys

import typer

from runner.cli.opening import open_runner, visible_tree
from runner.cli.options import AsJson, Principal, ReachOption, TurnId
from runner.cli.receipts import print_receipts
from runner.core.coordination import Reach, Receipt, ReceiptState
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)


@app.command()
def resume(
    ctx: typer.Context,
    turn_id: TurnId,
    reach: ReachOption = Reach.CASCADE,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Let a paused or stale turn, and everything below it, go on.

    A turn is stale when it ran in a process that died. Workers go on with either kind from the
    last committed step.
    """
    with open_runner(ctx, principal=principal) as runner:
        receipts = runner.resume(turn_id, reach=reach)
        print_receipts(receipts, visible_tree(runner, turn_id), _worded, as_json=as_json)
    if receipts.wake and not as_json:
        print(f"a worker takes it: `runner worker`, and `runner watch {turn_id}`", file=sys.stderr)


def _worded(receipt: Receipt, _: Turn) -> str:
    if receipt.state is ReceiptState.UNCHANGED:
        return f"is not paused but {receipt.status.value}"
    match receipt.status:
        case TurnStatus.PENDING:
            return "goes on"
        case TurnStatus.WAITING:
            return "goes on once what it waits for has ended"
        case _:
            return "is not to be paused any more"
