"""What is known of a turn, a name and a sentence each."""

from collections.abc import Iterator
from datetime import datetime

from runner.cli.outcome import advice_on, consumption
from runner.cli.text import count, json_text
from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn


def facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield all that is worth telling of a turn; most only where there is something to tell."""
    yield "agent", f"{turn.agent} ({turn.kind.value})"
    yield "conversation", turn.conversation_id
    if not turn.status.is_ended:
        yield "phase", turn.phase.value
    yield from _state(turn)
    yield from _place(turn)
    yield "took", consumption([turn])
    yield from _moments(turn)
    if turn.worker_id is not None:
        yield "worker", turn.worker_id
    yield "definition", turn.definition_hash
    given: dict[str, JsonObject | None] = {
        "principal": turn.principal,
        "subject": None if turn.subject is None else turn.subject.as_json(),
        "context": turn.context,
        "metadata": turn.metadata,
    }
    for name, value in given.items():
        if value:
            yield name, json_text(value)


def _state(turn: Turn) -> Iterator[tuple[str, str]]:
    """Say what keeps the turn where it is, and what is asked of it."""
    if advice := advice_on(turn):
        yield "next", advice
    if turn.status.is_ended:
        return
    if turn.open_waits:
        yield "waits for", count(turn.open_waits, "turn")
    if turn.open_approvals:
        asked = count(turn.open_approvals, "approval")
        yield "asks for", f"{asked}; `runner approvals --turn {turn.id}` shows what is asked"
    if turn.waiters:
        yield "awaited by", count(turn.waiters, "turn")
    if turn.open_inputs:
        yield "inputs", f"{turn.open_inputs} queued"
    yield from _requests(turn)


def _requests(turn: Turn) -> Iterator[tuple[str, str]]:
    if turn.pause_requested:
        yield "asked", "to pause"
    if turn.cancel_requested:
        yield "asked", "to cancel"


def _place(turn: Turn) -> Iterator[tuple[str, str]]:
    """Say where the turn stands in its tree, and of a root what the tree has used."""
    place, limits, use = turn.place, turn.place.limits, turn.use
    if place.parent_id is not None:
        yield "parent", place.parent_id
        yield "root", place.root_id
    elif use.children:
        used = [
            f"{use.children} of {limits.max_children} turns below it",
            f"{use.iterations} of {limits.max_iterations} model requests",
            f"{use.tool_executions} of {limits.max_tool_executions} tool executions",
        ]
        yield "whole tree", ", ".join(used)
    if turn.callback_to is not None:
        yield "callback", f"its end is told to {turn.callback_to}"


def _moments(turn: Turn) -> Iterator[tuple[str, str]]:
    moments = {
        "created": turn.created_at,
        "started": turn.started_at,
        "ended": turn.ended_at,
        "not before": turn.not_before,
        "deadline": None if turn.status.is_ended else turn.deadline_at,
    }
    for name, at in moments.items():
        if at is not None:
            yield name, _moment(at)


def _moment(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
