"""`runner outbox`: show what was sent from a conversation."""

import typer

from runner.cli.deliveries import print_deliveries
from runner.cli.opening import open_runner, stored_conversation
from runner.cli.options import AsJson, Conversation, Principal

app = typer.Typer(add_completion=False)


@app.command()
def outbox(
    ctx: typer.Context,
    conversation_id: Conversation,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Show what was sent from a conversation, oldest first.

    Messages and callbacks, with the turn that answers each.
    """
    with open_runner(ctx, principal=principal) as runner:
        found = runner.outbox(stored_conversation(runner, conversation_id))
        print_deliveries(found, "TO", runner.wiring.clock.now(), as_json=as_json)
