"""`runner approve`: let a call be made that a policy wants approved."""

import typer

from runner.cli.answered import print_answered
from runner.cli.opening import open_runner
from runner.cli.options import ApprovalId, AsJson, Principal, Reason

app = typer.Typer(add_completion=False)


@app.command()
def approve(
    ctx: typer.Context,
    approval_id: ApprovalId,
    reason: Reason = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Let a call be made that a policy wants approved.

    It is this one call that may be made, once and with exactly the arguments shown; policies are
    asked again right before it is.
    """
    with open_runner(ctx, principal=principal) as runner:
        print_answered(runner.approve(approval_id, reason=reason), as_json=as_json)
