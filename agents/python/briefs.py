"""Saves the briefs that the agent `briefer` writes."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypedDict

from runner import ToolContext

FOLDER = Path(__file__).resolve().parents[2] / "out" / "briefs"
MAX_SUMMARY = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that somebody is going to do."""

    owner: str
    what: str
    due: date | None = None


class SavedBrief(TypedDict):
    """Where a brief is, and what is in it."""

    path: str
    decisions: int
    actions: int
    text: str


def save_brief(
    title: str,
    date: date,
    summary: str,
    decisions: list[str],
    actions: list[Action],
    context: ToolContext,
) -> SavedBrief:
    """
    Save the brief of a meeting. Saving it ends the task.

    Args:
        title: What the meeting was called.
        date: The day it took place, as YYYY-MM-DD.
        summary: Three sentences at most.
        decisions: What was settled, one sentence each; empty when nothing was.
        actions: What somebody is going to do; empty when nobody is.
        context: Which call this is.

    Raises:
        ValueError: The brief says nothing, or too much.
    """
    _check(summary, decisions, actions)
    text = _render(title, date, summary, decisions, actions)
    path = FOLDER / _file_name(title, date, context.idempotency_key)
    _write(path, text)
    return SavedBrief(
        path=path.relative_to(FOLDER.parents[1]).as_posix(),
        decisions=len(decisions),
        actions=len(actions),
        text=text,
    )


def _check(summary: str, decisions: list[str], actions: list[Action]) -> None:
    if not summary.strip():
        raise ValueError("the summary is empty")
    if len(summary) > MAX_SUMMARY:
        raise ValueError(
            f"the summary has {len(summary)} characters; shorten it to {MAX_SUMMARY} or fewer"
        )
    if not all(decision.strip() for decision in decisions):
        raise ValueError("a decision is empty; leave it out")
    if not all(action.owner.strip() and action.what.strip() for action in actions):
        raise ValueError("an action lacks its owner or what is to be done")


def _render(
    title: str, day: date, summary: str, decisions: list[str], actions: list[Action]
) -> str:
    lines = [f"# {_one_line(title)}, {day.isoformat()}", "", summary.strip()]
    if decisions:
        lines += ["", "## Decisions", ""]
        lines += [f"- {_one_line(decision)}" for decision in decisions]
    if actions:
        lines += ["", "## Actions", ""]
        lines += [f"- {_line(action)}" for action in actions]
    return "\n".join(lines) + "\n"


def _line(action: Action) -> str:
    due = f" by {action.due.isoformat()}" if action.due else ""
    return f"**{_one_line(action.owner)}**{due}: {_one_line(action.what)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _file_name(title: str, day: date, key: str) -> str:
    """Name the file for its call: the same call has one file, and no two calls share one."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(key.encode()).hexdigest()[:8]
    return f"{day.isoformat()}-{words or 'brief'}-{digest}.md"


def _write(path: Path, text: str) -> None:
    """Write the whole file or none of it, whenever the process may die."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)
