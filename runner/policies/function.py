"""Policies that are functions of the application."""

from collections.abc import Callable, Coroutine
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TypeAlias

from runner.core.authorization import Attempt

#: Finds the function that `module:function` names, or raises an error that says why there is none.
FunctionOf: TypeAlias = Callable[[str], Callable[[Attempt], object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPolicy:
    """A function that has to return True, for each attempt anew."""

    policy: str
    #: The function, as `module:function`.
    reference: str
    #: Where the policy stands, as `file:line`.
    source: str
    function_of: FunctionOf

    def objection(self, attempt: Attempt) -> str | None:
        """Return why the function does not agree; None where it does."""
        try:
            # It may change what it is given, and nothing else is to change by that.
            answer = self.function_of(self.reference)(_copy(attempt))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - it is the application's code, which may exit
            return f"policy {self.policy!r} failed with {type(error).__name__}"
        if isinstance(answer, Coroutine):
            answer.close()
        return None if answer is True else f"policy {self.policy!r} does not agree"


def _copy(attempt: Attempt) -> Attempt:
    return replace(
        attempt,
        principal=deepcopy(attempt.principal),
        arguments=deepcopy(attempt.arguments),
        turn=deepcopy(attempt.turn),
        conversation=deepcopy(attempt.conversation),
        context=deepcopy(attempt.context),
    )
