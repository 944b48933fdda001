"""`runner preview`: show the exact first request of a turn."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.cli.console import console, print_json, print_table, print_text
from runner.cli.opening import open_runner
from runner.cli.options import (
    AsJson,
    Context,
    Input,
    Principal,
    SubjectOption,
    read_given,
    read_json,
)
from runner.cli.shapes import size_json
from runner.cli.text import json_text, one_line, outline
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
    context_json: Context = None,
    subject_json: SubjectOption = None,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Only how large its pieces are, not the request.")
    ] = False,
    no_context: Annotated[
        bool, typer.Option("--no-context", help="Ask no contributors; leave out what they give.")
    ] = False,
    as_json: AsJson = False,
    principal: Principal = None,
) -> None:
    """
    Show the exact first request of a turn, without sending or storing it.

    It is laid out for reading, with the sizes of its pieces; numbers of tokens are estimated. With
    --json the body is printed as it would be sent, or the sizes. The agent's contributors are
    asked, as they are before a request is sent, unless --no-context is given.
    """
    is_more = bool(task or input_json or chat or context_json or subject_json)
    _ensure_one(agent, turn, is_more=is_more)
    with open_runner(ctx, principal=principal) as runner:
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
    _show(found, sizes=sizes, as_json=as_json)


def _ensure_one(agent: str, turn: str | None, *, is_more: bool) -> None:
    if bool(turn) == bool(agent):
        raise UsageError("name an agent and a task, or a stored turn with --turn")
    if turn and is_more:
        raise UsageError("a stored turn has its task, input, context, subject and kind already")


def _show(found: Preview, *, sizes: bool, as_json: bool) -> None:
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
