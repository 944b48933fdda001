"""An attempt as rules look at it."""

from collections.abc import Mapping
from typing import Final

from runner.core.authorization import Attempt
from runner.definitions.condition import Inputs


class Facts:
    """One attempt, with what its conditions look at made ready when it is first needed."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt: Final = attempt
        self.inputs: Final = Inputs(_given(attempt))


def _given(attempt: Attempt) -> Mapping[str, object]:
    return {
        "action": attempt.action.value,
        "agent": attempt.agent,
        "arguments": attempt.arguments,
        "context": attempt.context,
        "conversation": attempt.conversation,
        "principal": attempt.principal or {},
        "tool": attempt.tool or "",
        "turn": attempt.turn,
    }
