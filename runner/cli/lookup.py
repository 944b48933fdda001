"""Finds what events only name."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from runner.cli.text import json_text, one_line
from runner.core.errors import NotPermitted
from runner.core.ids import TurnId
from runner.core.messages import Message, ToolResult
from runner.core.records import ToolExecution, Turn

_LONGEST_ERROR: Final = 300


class Source(Protocol):
    """Where turns and what belongs to them is stored."""

    def turn(self, turn_id: str) -> Turn: ...

    def tree(self, turn_id: str) -> Sequence[Turn]: ...

    def executions(self, turn_id: str) -> Sequence[ToolExecution]: ...

    def messages(self, conversation_id: str) -> Sequence[Message]: ...


class Lookup:
    """Looks up as little as it can in a source; what somebody may not read stays unsaid."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._calls = dict[TurnId, Mapping[str, ToolExecution]]()

    def turn(self, turn_id: TurnId) -> Turn:
        return self._source.turn(turn_id)

    def tree(self, turn_id: TurnId) -> Sequence[Turn]:
        return self._source.tree(turn_id)

    def call(self, turn_id: TurnId, execution_id: object, name: object, *, limit: int) -> str:
        """Write a call on one line of *limit* characters: the tool's name and its arguments."""
        calls = self._calls.get(turn_id, {})
        if execution_id not in calls:
            calls = {run.id: run for run in self._executions(turn_id)}
            self._calls[turn_id] = calls
        run = calls.get(str(execution_id))
        arguments = json_text(run.arguments) if run and run.arguments else ""
        return one_line(f"{name} {arguments}", limit)

    def error(self, turn: Turn, execution_id: object, status: str) -> str:
        """Say what the model is told of a call that did not succeed."""
        results = [
            part.content
            for message in self._messages(turn)
            for part in message.parts
            if message.execution_id == execution_id and isinstance(part, ToolResult)
        ]
        error = results[0].get("error") if results else None
        if not isinstance(error, Mapping):
            return one_line(str(error or ""), _LONGEST_ERROR)
        # Of an exception the message alone may say nothing: that of KeyError is the key.
        kind = error.get("type") if status == "failed" else None
        message = error.get("message") or ""
        return one_line(f"{kind}: {message}" if kind else str(message), _LONGEST_ERROR)

    def text(self, turn: Turn, message_id: object) -> str:
        """Return the text of a message."""
        messages = self._messages(turn)
        return next((message.text for message in messages if message.id == message_id), "")

    def _executions(self, turn_id: TurnId) -> Sequence[ToolExecution]:
        try:
            return self._source.executions(turn_id)
        except NotPermitted:
            return ()

    def _messages(self, turn: Turn) -> Sequence[Message]:
        try:
            return self._source.messages(turn.conversation_id)
        except NotPermitted:
            return ()
