"""`runner deny`: let a call not be made that a policy wants approved."""

import typer

from runner.cli.answered import print_answered
from runner.cli.opening import open_runner
from runner.cli.options import ApprovalId, AsJson, Principal, Reason

app = typer.Typer(add_completion=False)


@app.command()
def deny(
    ctx: typer.Context,
    approval_id: ApprovalId,
    reason: Reason = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Let a call not be made that a policy wants approved.

    The agent is told the reason as the call's result, and goes on without it.
    """
    with open_runner(ctx, principal=principal) as runner:
        print_answered(runner.deny(approval_id, reason=reason), as_json=as_json)
