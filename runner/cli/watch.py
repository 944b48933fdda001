"""`runner watch`: follow a turn and all below it until it has ended, whoever runs it."""

import typer

from runner.cli.following import follow_to_the_end
from runner.cli.live import view_for
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Principal, TurnId

app = typer.Typer(add_completion=False)


@app.command()
def watch(
    ctx: typer.Context, turn_id: TurnId, as_json: AsJson = False, principal: Principal = None
) -> int:
    """
    Follow a turn and all below it until it has ended, whoever runs it.

    Everything is shown from the first event on, like in `runner run`; on a terminal the tree stands
    below as it is. A turn that did not complete makes the exit code 1.
    """
    with open_runner(ctx, principal=principal) as runner:
        return follow_to_the_end(runner, view_for(as_json=as_json), turn_id)
