"""`runner inbox`: show what was delivered to a conversation."""

import typer

from runner.cli.deliveries import print_deliveries
from runner.cli.opening import open_runner, stored_conversation
from runner.cli.options import AsJson, Conversation, Principal

app = typer.Typer(add_completion=False)


@app.command()
def inbox(
    ctx: typer.Context,
    conversation_id: Conversation,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Show what was delivered to a conversation, oldest first.

    From other conversations and applications, with the turn that answers each.
    """
    with open_runner(ctx, principal=principal) as runner:
        found = runner.inbox(stored_conversation(runner, conversation_id))
        print_deliveries(found, "FROM", runner.wiring.clock.now(), as_json=as_json)
