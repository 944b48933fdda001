"""`runner steer`: give a turn under way new input."""

import typer

from runner.cli.console import print_json
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Key, Principal, Text, TurnId
from runner.cli.shapes import input_json
from runner.core.coordination import Input

app = typer.Typer(add_completion=False)


@app.command()
def steer(
    ctx: typer.Context,
    turn_id: TurnId,
    text: Text,
    key: Key = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Give a turn under way new input.

    It is put into the transcript at the turn's next boundary; tool calls that have not begun are
    skipped then, and the model plans again.
    """
    with open_runner(ctx, principal=principal) as runner:
        given = runner.steer(turn_id, text, key=key)
    if as_json:
        print_json(input_json(given))
    else:
        print(_worded(given))


def _worded(given: Input) -> str:
    if given.message_id is not None:
        return f"input {given.position} is in the transcript of {given.turn_id} already"
    return f"input {given.position} is queued for {given.turn_id}, which reads it next"
