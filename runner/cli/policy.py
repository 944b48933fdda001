"""`runner policy`: say what policies make of an attempt, and why."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from runner.bootstrap.explaining import WhatIf, explain, stranger
from runner.cli.console import console, print_json, print_text
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Context, Principal, read_object
from runner.cli.shapes import explanation_json
from runner.cli.text import one_line
from runner.core.authorization import Action, Verdict
from runner.definitions.scalars import format_duration
from runner.policies.explanation import Considered, Explanation

app = typer.Typer(add_completion=False, no_args_is_help=True)

_STYLES: Final = {"allow": "green", "ask": "yellow", "deny": "red"}


@app.callback()
def policy() -> None:
    """Say what policies make of an attempt, and why."""


@app.command("explain")
def explain_command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Whose turn it is.")],
    tool: Annotated[
        str | None, typer.Option(metavar="TOOL", help="The tool or sub-agent that is called.")
    ] = None,
    arguments: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="The arguments of the call.")
    ] = None,
    action: Annotated[
        Action | None,
        typer.Option(help="What is attempted; without it, what calling the tool is."),
    ] = None,
    under: Annotated[
        list[str] | None,
        typer.Option(metavar="AGENT", help="The agent of a turn above, the first one first."),
    ] = None,
    principal: Principal = None,
    context_json: Context = None,
    as_json: AsJson = False,
) -> None:
    """
    Show which rule decides an attempt, where it stands, and which rules came close.

    Nothing is called or stored. The policies are those of the files as they are now.
    """
    what = WhatIf(
        agent=agent,
        under=under or (),
        tool=tool,
        arguments=read_object("--arguments", arguments),
        action=action,
        principal=None if principal is None else read_object("--principal", principal),
        context=read_object("--context", context_json),
    )
    with open_runner(ctx) as runner:
        found = explain(runner.wiring, what)
        unknown = stranger(runner.wiring, what)
    if unknown:
        print(one_line(unknown), file=sys.stderr)
    if as_json:
        print_json([explanation_json(one) for one in found])
        return
    for number, one in enumerate(found):
        _print(console(), one, is_first=number == 0)


def _print(out: Console, found: Explanation, *, is_first: bool) -> None:
    if not is_first:
        out.print()
    attempt, verdict = found.attempt, found.verdict
    tool = f" {one_line(attempt.tool)}" if attempt.tool else ""
    head = Text(f"{attempt.action.value}{tool} by {one_line(attempt.agent)}: ", "bold")
    print_text(out, head.append(verdict.effect.value, _STYLES[verdict.effect.value]))
    for name, value in _facts(verdict, found.layers):
        print_text(out, Text(f"  {name:<8} ", "dim").append(one_line(value, 1000), "not dim"))
    _print_rules(out, "applies", found.applying)
    _print_rules(out, "came close", found.near)


def _facts(verdict: Verdict, layers: Sequence[str]) -> Iterator[tuple[str, str]]:
    if not layers:
        yield "reason", "no policy is in force"
        return
    yield "reason", verdict.reason
    if verdict.rule is not None:
        yield "rule", f"{verdict.rule} of policy {verdict.policy}, {verdict.source}"
    elif verdict.policy is not None:
        yield "policy", f"{verdict.policy}, {verdict.source}"
    if verdict.layer is not None:
        yield "layer", verdict.layer
    if verdict.expires is not None:
        yield "expires", format_duration(verdict.expires)
    yield "layers", ", ".join(layers)


def _print_rules(out: Console, title: str, rules: Sequence[Considered]) -> None:
    if rules:
        out.print()
        out.print(Text(title, style="bold"))
    for one in rules:
        line = Text("  ").append(f"{one.effect:<5} ", _STYLES[one.effect])
        line.append(f"{one_line(one.rule)} of policy {one_line(one.policy)}, {one.source}")
        print_text(out, line.append(f"  layer {one_line(one.layer)}", "dim"))
        if one.key:
            print_text(out, Text(f"        {one.key}: {one_line(one.why, 300)}", "dim"))
