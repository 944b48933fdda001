"""What must be so of launch trees once all is over, whatever was taken away meanwhile."""

from collections import Counter
from collections.abc import Iterator, Sequence

from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.project import Project

#: What may have become of a call.
_SETTLED = {ExecutionStatus.COMPLETED, ExecutionStatus.INTERRUPTED}

#: The tools that write down what they do.
_ACTING = {"act", "act_safely"}


def faults(project: Project, roots: Sequence[str]) -> list[str]:
    """Return every fault of the store, and of these trees and their effects."""
    trees = [turn for root in roots for turn in project.runner.tree(root)]
    begun = Counter(entry.key for entry in project.ledger if entry.what == "begin")
    done = Counter(entry.key for entry in project.ledger if entry.what == "end")
    return [
        *(f"{finding.rule}: {finding.message}" for finding in project.runner.audit()),
        *(f"unattended: {turn_id} {fault}" for turn_id, fault in project.runner.unattended()),
        *(f"left over: {status} {count}" for status, count in project.runner.counts().items()),
        *(fault for turn in trees for fault in _of_turn(project, turn, begun, done)),
    ]


def is_finished(project: Project) -> bool:
    return not any(project.runner.counts().values())


def has_acted(project: Project, lines: int) -> bool:
    """Say whether so much was written down, unless there is nothing left to write about."""
    return len(project.ledger) >= lines or is_finished(project)


def _of_turn(
    project: Project, turn: Turn, begun: Counter[str], done: Counter[str]
) -> Iterator[str]:
    if turn.status is not TurnStatus.COMPLETED:
        yield f"{turn.id} is {turn.status}: {turn.error}"
    for run in project.runner.executions(turn.id):
        key = f"{turn.id}:{run.call_id}"
        if run.status not in _SETTLED:
            yield f"{run.id} of {run.tool} is {run.status}"
        if run.tool == "act" and begun[key] > 1:
            yield f"{run.id} had its effect begun {begun[key]} times"
        if run.tool in _ACTING and run.status is ExecutionStatus.COMPLETED and not done[key]:
            yield f"{run.id} of {run.tool} completed without its effect"
