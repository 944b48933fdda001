"""`runner preview`: show the exact first request of a turn."""

import sys
from typing import Annotated

import typer
from rich.text import Text

from runner.cli.console import console, print_table, print_text
from runner.cli.opening import open_runner
from runner.cli.options import (
    AsJson,
    Context,
    Input,
    SubjectOption,
    read_given,
    read_json,
)
from runner.cli.text import json_text, one_line, outline
from runner.core.errors import UsageError
from runner.engine.preview import Preview

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
    context_json: Context = None,
    subject_json: SubjectOption = None,
    no_context: Annotated[
        bool, typer.Option("--no-context", help="Ask no contributors; leave out what they give.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Show the exact first request of a turn, without sending or storing it.

    It is laid out for reading; with --json the body is printed as it would be sent. The agent's
    contributors are asked, as they are before a request is sent, unless --no-context is given.
    """
    if bool(turn) == bool(agent):
        raise UsageError("name an agent and a task, or a stored turn with --turn")
    if turn and (task or input_json or chat or context_json or subject_json):
        raise UsageError("a stored turn has its task, input, context, subject and kind already")
    with open_runner(ctx) as runner:
        if turn:
            found = runner.preview_turn(turn, with_context=not no_context)
        else:
            input_data = read_json("--input", input_json)
            given = read_given(context_json, subject_json)
            found = runner.preview(
                agent,
                task,
                input=input_data,
                chat=chat,
                given=given,
                with_context=not no_context,
            )
    for skipped in found.skipped:
        said = f"left out: the contributor {skipped.name!r} failed: {skipped.reason}"
        print(one_line(said), file=sys.stderr)
    if as_json:
        print(json_text(found.request.body))
    else:
        _print(found)


def _print(found: Preview) -> None:
    out = console()
    out.print(Text(f"the request to {found.request.provider}", style="bold"))
    for line in outline(found.request.body):
        print_text(out, Text(line))
    out.print()
    rows = [(name, f"{size:,}") for name, size in found.sizes.items()]
    total = sum(found.sizes.values())
    print_table(out, ("SECTION", "CHARACTERS"), [*rows, ("total", f"{total:,}")])
