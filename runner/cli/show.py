"""`runner show`: show everything about a turn."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from runner.cli.asked import stand
from runner.cli.console import STYLES, block, console, print_json, print_text
from runner.cli.facts import facts
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, Principal, TurnId
from runner.cli.outcome import consumption
from runner.cli.story import Story, read_story
from runner.cli.text import json_text, one_line, span
from runner.cli.tree import tree_lines
from runner.core.approvals import Approval
from runner.core.coordination import Input
from runner.core.jsonvalue import JsonValue
from runner.core.records import Event, TurnError

app = typer.Typer(add_completion=False)

#: How much of a result or an event is shown; --json has all of it.
_LONGEST: Final = 1000
#: What events hold for programs, which have it by `--json`; usage is told for the whole turn.
_NOT_FOR_PEOPLE: Final = frozenset({"message_id", "execution_id", "request_id", "usage"})


@app.command()
def show(
    ctx: typer.Context, turn_id: TurnId, as_json: AsJson = False, principal: Principal = None
) -> None:
    """
    Show everything about a turn.

    How it stands, its place in its tree and what is below it, what it waits for and was given,
    what it has used, its tool executions with their results, and what happened when.
    """
    with open_runner(ctx, principal=principal) as runner:
        story = read_story(runner, turn_id)
    if as_json:
        print_json(story.to_json())
    else:
        _print(console(), story)


def _print(out: Console, story: Story) -> None:
    turn = story.turn
    status = turn.status.value
    out.print(Text().append(f"{turn.id}  ", "bold").append(status, STYLES[status]))
    for name, value in facts(turn):
        out.print(Text().append(f"  {name:<13}", "dim").append(one_line(value)))
    if turn.error is not None:
        _print_error(out, turn.error)
    if turn.result is not None:
        _head(out, "result")
        out.print(block(turn.result))
    _print_turns(out, story)
    _print_inputs(out, story.inputs)
    _print_approvals(out, story.approvals)
    _print_executions(out, story)
    _print_timeline(out, story.events)


def _print_error(out: Console, error: TurnError) -> None:
    _head(out, f"error: {error.code}")
    out.print(block(error.message, style="red"))
    if error.details:
        out.print(block(json_text(error.details), style="dim"))


def _print_turns(out: Console, story: Story) -> None:
    """Print the turns that are below it, and those that it waits for otherwise."""
    if story.below:
        _head(out, "tree")
    for line in tree_lines([story.turn, *story.below]) if story.below else ():
        print_text(out, Text("  ").append_text(line))
    if story.below:
        all_of_it = consumption([story.turn, *story.below])
        print_text(out, Text("  whole tree  ").append(all_of_it, "dim"))
    others = [wait for wait in story.waits if wait.awaited not in story.below]
    if others:
        _head(out, "waits for")
    for wait in others:
        status = wait.awaited.status.value
        line = Text(f"  {wait.awaited.id} ").append(status, STYLES[status])
        print_text(out, line.append("" if wait.execution_id else " before it starts", "dim"))


def _print_inputs(out: Console, inputs: Sequence[Input]) -> None:
    if inputs:
        _head(out, "inputs")
    for given in inputs:
        where = "in the transcript" if given.message_id else "queued"
        print_text(out, Text(f"  {given.position}. ").append(where, "dim"))
        out.print(block(one_line(given.text, _LONGEST), indent=5))


def _print_approvals(out: Console, approvals: Sequence[Approval]) -> None:
    if approvals:
        _head(out, "approvals")
    for approval in approvals:
        line = Text(f"  {approval.id} ").append(one_line(approval.question.tool))
        print_text(out, line.append(f" {stand(approval)}", "dim"))


def _print_executions(out: Console, story: Story) -> None:
    if story.executions:
        _head(out, "tool executions")
    for run in story.executions:
        status = run.status.value
        line = Text(f"  {run.position}. {one_line(run.tool)} ").append(status, STYLES[status])
        if run.started_at and run.ended_at:
            line.append(f" {span(run.ended_at - run.started_at)}", style="dim")
        print_text(out, line)
        out.print(block(one_line(f"→ {json_text(run.arguments)}", _LONGEST), indent=5))
        result = story.results.get(run.id)
        if result is not None:
            out.print(block(one_line(f"← {json_text(result.content)}", _LONGEST), indent=5))


def _print_timeline(out: Console, events: Sequence[Event]) -> None:
    if events:
        _head(out, "timeline")
    for event in events:
        _print_event(out, event, since=events[0].at)


def _is_worth_a_word(key: str, value: JsonValue) -> bool:
    if key in _NOT_FOR_PEOPLE or (value is None and key != "cost"):
        return False
    return bool(value) or not key.endswith(("_tokens", "_requests"))


def _print_event(out: Console, event: Event, *, since: datetime) -> None:
    offset = (event.at - since) / timedelta(seconds=1)
    body = " ".join(
        f"{key}={_said(key, value)}"
        for key, value in event.body.items()
        if _is_worth_a_word(key, value)
    )
    line = Text().append(f"  {offset:+9.3f}s  ", "dim").append(f"{event.kind:<18} ")
    room = max(out.width - line.cell_len, 1) if out.is_terminal else _LONGEST
    print_text(out, line.append(one_line(body, room), "dim"))


def _said(key: str, value: JsonValue) -> str:
    if key == "cost":
        return "unpriced" if value is None else f"${value}"
    return value if isinstance(value, str) else json_text(value)


def _head(out: Console, title: str) -> None:
    out.print()
    out.print(Text(one_line(title), style="bold"))
