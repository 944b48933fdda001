"""`runner send`: put a message into a conversation."""

import sys

import typer

from runner.cli.console import print_json
from runner.cli.opening import open_runner, stored_conversation
from runner.cli.options import AsJson, Conversation, Key, Principal, Text
from runner.cli.shapes import delivery_json

app = typer.Typer(add_completion=False)


@app.command()
def send(
    ctx: typer.Context,
    conversation_id: Conversation,
    text: Text,
    key: Key = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Put a message into a conversation and wake its agent.

    The id of the turn that answers is printed; it comes after everything submitted before.
    """
    with open_runner(ctx, principal=principal) as runner:
        delivery = runner.send(stored_conversation(runner, conversation_id), text, key=key)
    if as_json:
        print_json(delivery_json(delivery))
    else:
        print(delivery.turn_id)
        print(f"delivered; see the answer: `runner watch {delivery.turn_id}`", file=sys.stderr)
