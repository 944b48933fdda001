"""Tool results: what the model reads of a call, whatever became of it."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from runner.core.jsonvalue import JsonObject, storable_text
from runner.core.messages import ToolCall, ToolResult
from runner.core.states import ExecutionStatus
from runner.tools.cut import cut_object, cut_text
from runner.tools.plain import plain

#: Why a call was not made that nobody agreed to.
UNANSWERED: Final = "not approved: nobody answered in time"
WITHDRAWN: Final = "not approved: the question was withdrawn"

_MAX_ERROR_CHARS: Final = 4_000


def returned(call: ToolCall, value: object, max_chars: int) -> ToolResult:
    """
    Answer *call* with what its tool returned.

    Anything but an object is wrapped as `{"result": …}`. The content's JSON text has at most
    *max_chars*, within reason; what is longer loses its middle and says so.
    """
    try:
        content = as_object(value, max_values=max_chars)
    except Exception as error:  # noqa: BLE001 - methods of a value are the tool's code
        return _failed(
            call, type(error).__name__, f"the tool returned what cannot be read: {_text(error)}"
        )
    return ToolResult(
        call_id=call.call_id, name=call.name, content=cut_object(content, max_chars=max_chars)
    )


def raised(call: ToolCall, error: BaseException) -> ToolResult:
    """Answer *call* with the class and message of what its tool raised, and nothing more of it."""
    return _failed(call, type(error).__name__, _text(error))


def refused(call: ToolCall, reason: str) -> ToolResult:
    """Answer a call that was not made because it may not be."""
    return _failed(call, ExecutionStatus.REFUSED, reason)


def timed_out(call: ToolCall, seconds: float) -> ToolResult:
    """Answer a call that took longer than *seconds*, or was not started for lack of time."""
    text = (
        f"no answer within {seconds:g} seconds; the call may still have had its effect, so find"
        " out before you repeat it"
    )
    return _failed(
        call, ExecutionStatus.TIMED_OUT, text if seconds > 0 else "not started: no time is left"
    )


def interrupted(call: ToolCall) -> ToolResult:
    """Answer a call whose process died while it ran."""
    return _failed(
        call,
        ExecutionStatus.INTERRUPTED,
        "the process died while this call ran, so its outcome is unknown: it may or may not have"
        " had its effect; do not simply repeat it, find out first",
    )


def stopped(call: ToolCall, reason: str) -> ToolResult:
    """Answer a call that may not be run again although its process died while it ran."""
    return _failed(
        call,
        ExecutionStatus.INTERRUPTED,
        f"{reason}; an earlier attempt died and may or may not have had its effect, so find out"
        " before you do anything else about it",
    )


def skipped(call: ToolCall, reason: str) -> ToolResult:
    """Answer a call that was not made because its place never came."""
    return _failed(call, ExecutionStatus.SKIPPED, reason)


def unknown_tool(name: str, available: Sequence[str]) -> str:
    """Say that there is no such tool, and which was probably meant."""
    if not available:
        return f"there is no tool {name!r}; there are no tools at all, so answer without"
    close = get_close_matches(name, available, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ";"
    return f"there is no tool {name!r}{guess} the tools are {', '.join(available)}"


def invalid_arguments(name: str, complaints: Sequence[str]) -> str:
    """Say what is wrong with a call's arguments, and what to do."""
    return f"the arguments do not fit {name!r}: {'; '.join(complaints)}; mend them and call again"


def denied(reason: str) -> str:
    """Say that the policies in force do not allow a call."""
    return f"denied by policy: {reason}" if reason else "denied by policy"


def disapproved(reason: str | None) -> str:
    """Say that the person who was asked did not agree to a call."""
    return f"not approved: {reason}" if reason else "not approved by the person who was asked"


def over_limit(path: str, limit: int) -> str:
    """Say which limit, by its path in the agent's definition, leaves no room for a call."""
    return f"{path} allows {limit}, and all are used; go on without this call"


def as_object(value: object, *, max_values: int) -> JsonObject:
    """Turn what a tool returned into a JSON object; other values are wrapped."""
    content = plain(value, max_values=max_values)
    return content if isinstance(content, dict) else {"result": content}


def _failed(call: ToolCall, kind: str, message: str) -> ToolResult:
    text = cut_text(storable_text(message), max_chars=_MAX_ERROR_CHARS)
    return ToolResult(
        call_id=call.call_id,
        name=call.name,
        content={"error": {"type": str(kind), "message": text}},
        is_error=True,
    )


def _text(error: BaseException) -> str:
    """Return an error's message; a group's names its members, which its own text does not."""
    try:
        if not isinstance(error, BaseExceptionGroup):
            return str(error)
        members = (f"{type(each).__name__}: {_text(each)}" for each in error.exceptions)
        return f"{error.message}: {'; '.join(members)}"
    except Exception:  # noqa: BLE001 - the message is the tool's code as well
        return "its message cannot be read"
