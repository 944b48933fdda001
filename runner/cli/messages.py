"""`runner messages`: show a conversation."""

from typing import assert_never

import typer
from rich.console import Console
from rich.text import Text as Line

from runner.cli.console import block, console, print_json, print_text
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Conversation, Principal
from runner.cli.shapes import message_json
from runner.cli.text import json_text, one_line
from runner.core.messages import Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult

app = typer.Typer(add_completion=False)


@app.command()
def messages(
    ctx: typer.Context,
    conversation_id: Conversation,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Show a conversation.

    Its messages come in order, and after them those whose turn has not started.
    """
    with open_runner(ctx, principal=principal) as runner:
        agent = runner.open_conversation(conversation_id).agent
        found = runner.messages(conversation_id)
    if as_json:
        print_json([message_json(message) for message in found])
        return
    out = console()
    for message in found:
        _print(out, message, agent)


def _print(out: Console, message: Message, agent: str) -> None:
    place = "waits" if message.seq is None else f"#{message.seq}"
    who = one_line(agent) if message.role is Role.ASSISTANT else message.role.value
    print_text(out, Line(f"{place} {who}", style="bold"))
    for part in message.parts:
        print_text(out, _shown(part))
    out.print()


def _shown(part: Part) -> Line:
    match part:
        case Text(text=text):
            return block(text)
        case Thinking(text=text):
            return block(text or "(thinking that the provider keeps to itself)", style="dim")
        case ToolCall(name=name, arguments=arguments):
            return block(f"→ {name} {json_text(arguments)}", style="cyan")
        case ToolResult(is_error=is_error):
            style = "red" if is_error else ""
            return block(f"{part.name}: {json_text(part.content)}", style=style)
        case Opaque():
            return block("(something only the provider understands)", style="dim")
        case _:
            assert_never(part)
