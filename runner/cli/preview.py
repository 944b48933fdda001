"""`runner preview`: show the exact first request of a turn."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.cli.console import console, print_json, print_table, print_text
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Input, Principal, read_json
from runner.cli.shapes import size_json
from runner.cli.text import json_text, outline
from runner.core.errors import UsageError
from runner.engine.preview import Preview, Size

app = typer.Typer(add_completion=False)


@app.command()
def preview(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")] = "",
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do.")] = "",
    input_json: Input = None,
    chat: Annotated[
        bool, typer.Option("--chat", help="The request of a conversation's first message.")
    ] = False,
    turn: Annotated[
        str | None, typer.Option(metavar="TURN", help="The request of a turn that is stored.")
    ] = None,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Only how large its pieces are, not the request.")
    ] = False,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Show the exact first request of a turn, without sending or storing it.

    It is laid out for reading, with the sizes of its pieces; numbers of tokens are estimated. With
    --json the body is printed as it would be sent, or the sizes.
    """
    if bool(turn) == bool(agent):
        raise UsageError("name an agent and a task, or a stored turn with --turn")
    if turn and (task or input_json or chat):
        raise UsageError("a stored turn has its task, input and kind already")
    with open_runner(ctx, principal=principal) as runner:
        if turn:
            found = runner.preview_turn(turn)
        else:
            input_data = read_json("--input", input_json)
            found = runner.preview(agent, task, input=input_data, chat=chat)
    if as_json and sizes:
        print_json([size_json(size) for size in found.sizes])
    elif as_json:
        print(json_text(found.request.body))
    elif sizes:
        _print_sizes(console(), found.sizes)
    else:
        _print(found)


def _print(found: Preview) -> None:
    out = console()
    out.print(Text(f"the request to {found.request.provider}", style="bold"))
    for line in outline(found.request.body):
        print_text(out, Text(line))
    out.print()
    _print_sizes(out, found.sizes)


def _print_sizes(out: Console, sizes: Sequence[Size]) -> None:
    total = Size(
        name="total",
        characters=sum(size.characters for size in sizes),
        tokens=sum(size.tokens for size in sizes),
    )
    rows = [(size.name, f"{size.characters:,}", f"~{size.tokens:,}") for size in (*sizes, total)]
    print_table(out, ("PIECE", "CHARACTERS", "TOKENS (ESTIMATE)"), rows)
