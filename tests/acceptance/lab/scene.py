"""A project in which a chief acts, delegates, launches, waits and writes; and what to check."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from runner.core.ports import TurnFilter
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project

#: What workers here load, in place of what they load elsewhere.
WORKER: Final = "tests.acceptance.lab.worker"
#: Of one chief: itself, three helpers, and one answer each to the callback and the message.
TURNS: Final = 6

_TEMPLATE: Final = Path(__file__).with_name("template")
_SETTLED: Final = {ExecutionStatus.COMPLETED, ExecutionStatus.INTERRUPTED}


def set_up(make_project: MakeProject, stack: str, **worker: str | int) -> Project:
    project = make_project(stack, **({"lease": "2s", "max_claims": 50} | worker))
    shutil.copytree(_TEMPLATE, project.root, dirs_exist_ok=True)
    return project


def all_turns(project: Project) -> list[Turn]:
    return list(project.runner.turns(TurnFilter(limit=100_000)))


def is_finished(project: Project, chiefs: int = 1) -> bool:
    """Say whether all turns are there that a number of chiefs leads to, and have ended."""
    turns = all_turns(project)
    return len(turns) >= TURNS * chiefs and all(turn.status.is_ended for turn in turns)


def faults(project: Project, chiefs: int = 1) -> list[str]:
    """Return everything about a finished project that is not as it must be."""
    turns = all_turns(project)
    found = [f"{finding.rule}: {finding.message}" for finding in project.runner.audit()]
    if len(turns) != TURNS * chiefs:
        found.append(f"{len(turns)} turns of {chiefs} chiefs")
    found += (
        f"{turn.id} {turn.agent} is {turn.status}: {turn.error}"
        for turn in turns
        if turn.status is not TurnStatus.COMPLETED
    )
    return [*found, *_messages(project, turns), *_effects(project, turns)]


def _messages(project: Project, turns: list[Turn]) -> Iterator[str]:
    """Check that each chief had its callback, and each launched helper its message, once."""
    for turn in turns:
        arrived = len(project.runner.inbox(turn.conversation_id))
        awaited = int(turn.place.is_root or turn.callback_to is not None)
        if arrived != awaited:
            yield f"{turn.id} {turn.agent}: {arrived} messages where {awaited} are sent"


def _effects(project: Project, turns: list[Turn]) -> Iterator[str]:
    """Check the ledger against what is stored: nothing happened twice, and nothing is made up."""
    begun = Counter(e.key for e in project.ledger if e.what == "begin" and e.name != "safe")
    yield from (f"begun {count} times: {key}" for key, count in begun.items() if count > 1)
    done = {entry.key for entry in project.ledger if entry.what == "end"}
    for turn in turns:
        for run in project.runner.executions(turn.id):
            if run.status not in _SETTLED:
                yield f"{run.id} {run.tool} is {run.status}"
            if run.tool.startswith("act") and run.status is ExecutionStatus.COMPLETED:
                yield from () if f"{turn.id}:{run.call_id}" in done else (f"{run.id}: no effect",)
