"""All that is stored about a turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner.bootstrap.runner import Runner
from runner.cli.looks import all_events
from runner.cli.shapes import (
    approval_json,
    event_json,
    execution_json,
    input_json,
    total_json,
    turn_json,
)
from runner.core.approvals import Approval
from runner.core.coordination import Input
from runner.core.ids import ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import ToolResult
from runner.core.ports import ApprovalFilter
from runner.core.records import Event, ToolExecution, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A turn that another waits for, or has waited for."""

    awaited: Turn
    #: The execution that it works on; None where the turn waits before it starts.
    execution_id: ExecutionId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A turn with everything that belongs to it."""

    turn: Turn
    #: Parents before children, in order of launch.
    below: Sequence[Turn] = ()
    waits: Sequence[Wait] = ()
    inputs: Sequence[Input] = ()
    executions: Sequence[ToolExecution] = ()
    approvals: Sequence[Approval] = ()
    #: By the id of their execution.
    results: Mapping[str, ToolResult]
    events: Sequence[Event] = ()

    def to_json(self) -> JsonObject:
        results = self.results
        return {
            "turn": turn_json(self.turn),
            "total": total_json([self.turn, *self.below]),
            "below": [turn_json(turn) for turn in self.below],
            "waits": [_wait_json(wait) for wait in self.waits],
            "inputs": [input_json(given) for given in self.inputs],
            "approvals": [approval_json(each) for each in self.approvals],
            "executions": [execution_json(run, results.get(run.id)) for run in self.executions],
            "events": [event_json(event) for event in self.events],
        }


def read_story(runner: Runner, turn_id: str) -> Story:
    """
    Read everything about a turn.

    Raises:
        NotFound: There is no such turn.
    """
    turn, *below = runner.tree(turn_id)
    executions = runner.executions(turn_id)
    return Story(
        turn=turn,
        below=below,
        waits=tuple(_waits(runner, turn, executions, below)),
        inputs=runner.inputs(turn_id),
        executions=executions,
        approvals=runner.approvals(ApprovalFilter(turn_id=turn.id, answered=True)),
        results={
            message.execution_id: part
            for message in runner.messages(turn.conversation_id)
            for part in message.parts
            if message.execution_id is not None and isinstance(part, ToolResult)
        },
        events=tuple(all_events(runner, turn_id)),
    )


def _waits(
    runner: Runner, turn: Turn, executions: Sequence[ToolExecution], below: Sequence[Turn]
) -> Iterator[Wait]:
    known = {each.id: each for each in below}

    def find(turn_id: TurnId) -> Turn:
        return known.get(turn_id) or runner.turn(turn_id)

    for awaited in turn.awaits:
        yield Wait(awaited=find(awaited))
    for run in executions:
        for awaited in run.awaits:
            yield Wait(awaited=find(awaited), execution_id=run.id)


def _wait_json(wait: Wait) -> JsonObject:
    return {
        "turn_id": wait.awaited.id,
        "status": wait.awaited.status.value,
        "execution_id": wait.execution_id,
    }
