"""`runner show`: show everything about a turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from runner.bootstrap.runner import Runner
from runner.cli.console import STYLES, block, console, print_json, print_text
from runner.cli.opening import open_runner
from runner.cli.options import AsJson, TurnId
from runner.cli.outcome import consumption
from runner.cli.shapes import event_json, execution_json, turn_json
from runner.cli.text import json_text, one_line, span
from runner.core.jsonvalue import JsonValue
from runner.core.messages import ToolResult
from runner.core.records import Event, ToolExecution, Turn, TurnError

app = typer.Typer(add_completion=False)

#: How much of a result or an event is shown; --json has all of it.
_LONGEST: Final = 1000
#: What events hold for programs, which have it by `--json`; usage is told for the whole turn.
_NOT_FOR_PEOPLE: Final = frozenset({"message_id", "execution_id", "request_id", "usage"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Story:
    """All that is stored about a turn."""

    turn: Turn
    executions: Sequence[ToolExecution]
    #: By the id of their execution.
    results: Mapping[str, ToolResult]
    events: Sequence[Event]


@app.command()
def show(ctx: typer.Context, turn_id: TurnId, as_json: AsJson = False) -> None:
    """
    Show everything about a turn.

    How it stands, what it has used, its tool executions with their results, and what happened when.
    """
    with open_runner(ctx) as runner:
        story = _read(runner, turn_id)
    if as_json:
        print_json(_json(story))
    else:
        _print(console(), story)


def _read(runner: Runner, turn_id: str) -> _Story:
    turn = runner.turn(turn_id)
    return _Story(
        turn=turn,
        executions=runner.executions(turn_id),
        results={
            message.execution_id: part
            for message in runner.messages(turn.conversation_id)
            for part in message.parts
            if message.execution_id is not None and isinstance(part, ToolResult)
        },
        events=tuple(_events(runner, turn_id)),
    )


def _events(runner: Runner, turn_id: str) -> Iterator[Event]:
    after = 0
    while batch := runner.events(turn_id, after=after):
        yield from batch
        after = batch[-1].id


def _json(story: _Story) -> object:
    return {
        "turn": turn_json(story.turn),
        "executions": [execution_json(run, story.results.get(run.id)) for run in story.executions],
        "events": [event_json(event) for event in story.events],
    }


def _print(out: Console, story: _Story) -> None:
    turn = story.turn
    status = turn.status.value
    out.print(Text().append(f"{turn.id}  ", "bold").append(status, STYLES.get(status, "")))
    for name, value in _facts(turn):
        out.print(Text().append(f"  {name:<13}", "dim").append(one_line(value)))
    if turn.error is not None:
        _print_error(out, turn.error)
    if turn.result is not None:
        _head(out, "result")
        out.print(block(turn.result))
    if story.executions:
        _head(out, "tool executions")
    for run in story.executions:
        _print_execution(out, run, story.results.get(run.id))
    if story.events:
        _head(out, "timeline")
    for event in story.events:
        _print_event(out, event, since=story.events[0].at)


def _print_error(out: Console, error: TurnError) -> None:
    _head(out, f"error: {error.code}")
    out.print(block(error.message, style="red"))
    if error.details:
        out.print(block(json_text(error.details), style="dim"))


def _facts(turn: Turn) -> Iterator[tuple[str, str]]:
    yield "agent", f"{turn.agent} ({turn.kind.value})"
    yield "conversation", turn.conversation_id
    if not turn.status.is_ended:
        yield "phase", turn.phase.value
    yield "took", consumption(turn)
    moments = {
        "created": turn.created_at,
        "started": turn.started_at,
        "ended": turn.ended_at,
        "not before": turn.not_before,
    }
    for name, at in moments.items():
        if at is not None:
            yield name, _moment(at)
    if turn.worker_id is not None:
        yield "worker", turn.worker_id
    yield "definition", turn.definition_hash
    given = {"principal": turn.principal, "context": turn.context, "metadata": turn.metadata}
    for name, value in given.items():
        if value:
            yield name, json_text(value)


def _print_execution(out: Console, run: ToolExecution, result: ToolResult | None) -> None:
    status = run.status.value
    line = Text(f"  {run.position}. {one_line(run.tool)} ").append(status, STYLES.get(status, ""))
    if run.started_at and run.ended_at:
        line.append(f" {span(run.ended_at - run.started_at)}", style="dim")
    print_text(out, line)
    out.print(block(one_line(f"→ {json_text(run.arguments)}", _LONGEST), indent=5))
    if result is not None:
        out.print(block(one_line(f"← {json_text(result.content)}", _LONGEST), indent=5))


def _print_event(out: Console, event: Event, *, since: datetime) -> None:
    offset = (event.at - since) / timedelta(seconds=1)
    body = " ".join(
        f"{key}={_scalar(value)}"
        for key, value in event.body.items()
        if key not in _NOT_FOR_PEOPLE and not (key.endswith("_tokens") and value == 0)
    )
    line = Text().append(f"  {offset:+9.3f}s  ", "dim").append(f"{event.kind:<18} ")
    room = max(out.width - line.cell_len, 1) if out.is_terminal else _LONGEST
    print_text(out, line.append(one_line(body, room), "dim"))


def _scalar(value: JsonValue) -> str:
    return value if isinstance(value, str) else json_text(value)


def _head(out: Console, title: str) -> None:
    out.print()
    out.print(Text(one_line(title), style="bold"))


def _moment(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
