"""One call of a tool, made so that neither its errors nor its silence reach the engine."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from runner.core.errors import Interruption
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.tooling import Tool, ToolContext
from runner.tools.cancel import CancelFlag, StopSignal
from runner.tools.plain import plain

#: What "as long as it likes" is to a platform: centuries.
_LONGEST_WAIT: Final = threading.TIMEOUT_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The tool returned."""

    #: What it returned, as JSON; not yet an object, and not yet cut.
    value: JsonValue
    #: Messages it appended.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The tool raised, or what it returned could not be read."""

    error: BaseException
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """The tool's time was up; it may go on in its thread, and nobody listens to it any more."""

    seconds: float
    notes: tuple[str, ...] = ()


CallOutcome: TypeAlias = Returned | Raised | TimedOut


def run_call(
    tool: Tool,
    arguments: JsonObject,
    context: ToolContext,
    *,
    seconds: float | None,
    stop: StopSignal,
) -> CallOutcome:
    """
    Run one call in a thread of its own and wait for its end, its time limit, or *stop*.

    The tool sees a cancellation flag of the call's own in place of the context's: it is set when
    the time is up and when the execution is stopped. With no time left the tool is not started.
    An outcome that is there when the order to stop arrives is returned, for its effect has
    happened; the caller looks at *stop* before it does anything more.

    Args:
        tool: What is called.
        arguments: Valid ones; nothing here looks at them.
        context: What the tool is told of the call.
        seconds: How long it may take; None for as long as it likes.
        stop: Ends the wait with the interruption it carries.

    Raises:
        Interruption: The execution was ordered to stop, and the call had no outcome yet.
    """
    flag = CancelFlag()
    call = _Call(tool, arguments, replace(context, cancelled=flag))
    limit = _LONGEST_WAIT if seconds is None else min(seconds, _LONGEST_WAIT)
    unsubscribe = stop.subscribe(call.wake)
    try:
        stop.check()
        if limit <= 0:
            return TimedOut(seconds=limit)
        call.start()
        outcome = call.wait(limit)
        if outcome is None:
            stop.check()
            flag.set()
            return TimedOut(seconds=limit, notes=context.appended)
    except BaseException:
        flag.set()
        raise
    finally:
        unsubscribe()
    return outcome


class _Call:
    """A call on its way: its thread, and where its outcome is left."""

    def __init__(self, tool: Tool, arguments: JsonObject, context: ToolContext) -> None:
        self._tool = tool
        self._arguments = arguments
        self._context = context
        self._woken = threading.Event()
        self._outcome: Returned | Raised | None = None

    def start(self) -> None:
        run: Callable[[Callable[[], None]], None] = copy_context().run
        name = f"tool-{self._tool.spec.name}"
        threading.Thread(target=run, args=(self._run,), name=name, daemon=True).start()

    def wake(self) -> None:
        self._woken.set()

    def wait(self, seconds: float) -> Returned | Raised | None:
        """
        Return the outcome once there is one; None when woken before, or after *seconds*.

        Raises:
            Interruption: The tool ran turns of its own, and one of them ended with this.
        """
        self._woken.wait(seconds)
        outcome = self._outcome
        if isinstance(outcome, Raised) and isinstance(outcome.error, Interruption):
            raise outcome.error
        return outcome

    def _run(self) -> None:
        # Whatever user code raises is its own error, the ends of threads and programs included.
        try:
            value = self._tool.invoke(self._arguments, self._context)
            limit = self._tool.rules.max_result_chars
            self._outcome = Returned(
                value=plain(value, max_values=limit), notes=self._context.appended
            )
        except BaseException as error:  # noqa: BLE001 - see above
            self._outcome = Raised(error=error, notes=self._context.appended)
        self._woken.set()
