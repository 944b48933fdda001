"""Goes through a finished store and says what should not be there."""

from collections import Counter
from collections.abc import Iterator, Sequence

from runner.core.messages import Message, Role, ToolResult
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.project import Project

#: What may have become of an execution of a tool whose effect must not happen twice.
_SETTLED = {ExecutionStatus.COMPLETED, ExecutionStatus.INTERRUPTED}


def faults(project: Project, turn_ids: Sequence[str]) -> list[str]:
    """Return every fault of the turns, their transcripts, their executions and their effects."""
    return [
        *(f"unattended: {fault}" for fault in project.runner.unattended()),
        *(f"left over: {status} {count}" for status, count in _left_over(project)),
        *_repeated_effects(project),
        *(f"{turn_id}: {fault}" for turn_id in turn_ids for fault in _of_turn(project, turn_id)),
    ]


def _left_over(project: Project) -> Iterator[tuple[TurnStatus, int]]:
    yield from ((status, count) for status, count in project.runner.counts().items() if count)


def _repeated_effects(project: Project) -> Iterator[str]:
    """Find effects that happened twice, of tools for which that is not safe."""
    begun = Counter(
        entry.key for entry in project.ledger if entry.what == "begin" and entry.name != "b"
    )
    yield from (f"begun {count} times: {key}" for key, count in begun.items() if count > 1)


def _of_turn(project: Project, turn_id: str) -> Iterator[str]:
    turn = project.runner.turn(turn_id)
    if turn.status is not TurnStatus.COMPLETED:
        yield f"{turn.status}: {turn.error}"
    messages = [
        message
        for message in project.runner.messages(turn.conversation_id)
        if message.turn_id == turn_id
    ]
    if [message.seq for message in messages] != list(range(1, len(messages) + 1)):
        yield "its messages have gaps"
    yield from _open_calls(messages)
    ends = {entry.key for entry in project.ledger if entry.what == "end"}
    for run in project.runner.executions(turn_id):
        if run.status not in _SETTLED:
            yield f"{run.id} is {run.status}"
        if run.status is ExecutionStatus.COMPLETED and f"{turn_id}:{run.call_id}" not in ends:
            yield f"{run.id} completed without its effect"


def _open_calls(messages: Sequence[Message]) -> Iterator[str]:
    """Check that each tool call is answered once, in order, before anything else is said."""
    waiting: list[str] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) and waiting[:1] == [part.call_id]:
                waiting.pop(0)
            elif isinstance(part, ToolResult):
                yield f"a result out of its place: {part.call_id}"
        if waiting and message.role is not Role.TOOL:
            yield f"said before the results of {waiting}: {message.role}"
        waiting += [call.call_id for call in message.tool_calls]
    if waiting:
        yield f"calls without results: {waiting}"
