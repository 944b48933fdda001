import asyncio
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import pytest
from typing_extensions import override

from runner.core.errors import ClaimLost, HandBack
from runner.core.jsonvalue import JsonObject
from runner.core.tooling import ToolContext
from runner.tools.cancel import CancelFlag, StopSignal
from runner.tools.invocation import CallOutcome, Raised, Returned, TimedOut, run_call
from tests.fakes.tools import FakeTool, tool_context

PATIENCE = 60
SHORT = 0.05

REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


def run(
    behave: Callable[[JsonObject, ToolContext], object],
    *,
    seconds: float | None = None,
    stop: StopSignal | None = None,
) -> CallOutcome:
    return run_call(
        FakeTool(behave=behave),
        {"city": "Paris"},
        tool_context(),
        seconds=seconds,
        stop=stop or StopSignal(),
    )


class Blocking:
    """A tool that waits until it is released, and says what it saw of its cancellation."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.cancelled = threading.Event()
        self.release = threading.Event()
        self.ended = threading.Event()

    def __call__(self, arguments: JsonObject, context: ToolContext) -> object:
        context.append_message("on my way")
        context.cancelled.subscribe(self.cancelled.set)
        self.started.set()
        self.release.wait(PATIENCE)
        self.ended.set()
        return "late"


@pytest.fixture
def blocking() -> Iterator[Blocking]:
    tool = Blocking()
    yield tool
    tool.release.set()


def test_a_tool_gets_its_arguments_and_what_it_returns_comes_back() -> None:
    outcome = run(lambda arguments, _: {"seen": arguments["city"]})

    assert outcome == Returned(value={"seen": "Paris"})


def test_what_a_tool_returns_is_plain_when_it_comes_back() -> None:
    assert run(lambda *_: ("a", {1: b"b"})) == Returned(value=["a", {"1": "b"}])


def test_messages_a_tool_appends_come_back_in_order() -> None:
    def behave(_: JsonObject, context: ToolContext) -> None:
        context.append_message("first")
        context.append_message("second")

    assert run(behave) == Returned(value=None, notes=("first", "second"))


def test_messages_of_a_tool_that_fails_come_back_as_well() -> None:
    error = ValueError("no")

    def behave(_: JsonObject, context: ToolContext) -> None:
        context.append_message("half done")
        raise error

    assert run(behave) == Raised(error=error, notes=("half done",))


def test_a_tool_sees_what_its_caller_knows_of_the_call() -> None:
    seen = list[ToolContext]()
    given = tool_context()

    run_call(
        FakeTool(behave=lambda _, context: seen.append(context)),
        {},
        given,
        seconds=None,
        stop=StopSignal(),
    )

    assert seen[0].idempotency_key == given.idempotency_key
    assert not seen[0].cancelled.is_set()


def test_a_tool_sees_the_context_variables_of_its_caller_and_changes_none() -> None:
    REQUEST.set("of the caller")

    def behave(*_: object) -> str:
        seen = REQUEST.get()
        REQUEST.set("of the tool")
        return seen

    outcome = run(behave)

    assert outcome == Returned(value="of the caller")
    assert REQUEST.get() == "of the caller"


def test_a_tool_runs_in_a_daemon_thread_named_after_it() -> None:
    outcome = run(lambda *_: [threading.current_thread().name, threading.current_thread().daemon])

    assert outcome == Returned(value=["tool-fake", True])


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(SystemExit(3), id="the-end-of-the-program"),
        pytest.param(KeyboardInterrupt(), id="an-interrupt"),
        pytest.param(asyncio.CancelledError(), id="a-cancelled-task"),
        pytest.param(GeneratorExit(), id="the-end-of-a-generator"),
        pytest.param(TimeoutError("its own"), id="a-time-out-of-its-own"),
        pytest.param(RecursionError("deep"), id="a-recursion"),
        pytest.param(MemoryError(), id="no-memory"),
        pytest.param(StopIteration("x"), id="the-end-of-an-iterator"),
    ],
)
def test_whatever_a_tool_raises_is_its_own_error(error: BaseException) -> None:
    def behave(*_: object) -> None:
        raise error

    assert run(behave) == Raised(error=error)


def test_a_value_whose_text_cannot_be_had_is_the_tools_error() -> None:
    class Mute:
        @override
        def __str__(self) -> str:
            raise SystemExit("mute")

    outcome = run(lambda *_: Mute())

    assert isinstance(outcome, Raised)
    assert isinstance(outcome.error, SystemExit)


def test_a_tool_that_takes_too_long_is_told_and_left_alone(blocking: Blocking) -> None:
    outcome = run(blocking, seconds=1)

    assert outcome == TimedOut(seconds=1, notes=("on my way",))
    assert blocking.cancelled.wait(PATIENCE)
    assert not blocking.ended.is_set()


def test_an_abandoned_tool_may_end_later_without_harm(blocking: Blocking) -> None:
    outcome = run(blocking, seconds=SHORT)

    blocking.release.set()

    assert blocking.ended.wait(PATIENCE)
    assert isinstance(outcome, TimedOut)


@pytest.mark.parametrize("seconds", [0, -1.5])
def test_a_tool_without_time_left_is_not_started(seconds: float, blocking: Blocking) -> None:
    outcome = run(blocking, seconds=seconds)

    assert outcome == TimedOut(seconds=seconds)
    assert not blocking.started.is_set()


def test_a_limit_longer_than_a_thread_can_wait_is_no_trouble() -> None:
    assert run(lambda *_: 1, seconds=1e300) == Returned(value=1)


@pytest.mark.parametrize("order", [ClaimLost("taken over"), HandBack("stopping")], ids=repr)
def test_an_order_to_stop_ends_the_wait_and_tells_the_tool(
    order: ClaimLost | HandBack, blocking: Blocking
) -> None:
    stop = StopSignal()

    def give_the_order() -> None:
        blocking.started.wait(PATIENCE)
        stop.stop(order)

    threading.Thread(target=give_the_order).start()

    with pytest.raises(type(order)) as raised:
        run(blocking, stop=stop)

    assert raised.value is order
    assert blocking.cancelled.wait(PATIENCE)
    assert not blocking.ended.is_set()


def test_an_order_to_stop_that_came_before_starts_nothing(blocking: Blocking) -> None:
    stop = StopSignal()
    stop.stop(ClaimLost("taken over"))

    with pytest.raises(ClaimLost):
        run(blocking, stop=stop)

    assert not blocking.started.is_set()


class HurriedStop(StopSignal):
    """An order that comes between the last look at it and the start of the tool."""

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.stop(ClaimLost("taken over"))
        return super().subscribe(callback)


def test_an_order_to_stop_that_comes_while_the_call_is_prepared_starts_nothing(
    blocking: Blocking,
) -> None:
    with pytest.raises(ClaimLost):
        run(blocking, stop=HurriedStop())

    assert not blocking.started.is_set()


class UnheardStop(StopSignal):
    """An order that reaches nobody before he looks, as when it comes in the last moment."""

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


def test_an_outcome_that_is_there_when_the_order_comes_is_kept() -> None:
    stop = UnheardStop()

    def behave(*_: object) -> str:
        stop.stop(HandBack("stopping"))
        return "done"

    assert run(behave, stop=stop) == Returned(value="done")


class CountedStop(StopSignal):
    """An order that knows how many listen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners = 0

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.listeners += 1
        unsubscribe = super().subscribe(callback)

        def leave() -> None:
            self.listeners -= 1
            unsubscribe()

        return leave


def test_nobody_listens_for_the_order_to_stop_after_the_call() -> None:
    stop = CountedStop()
    contexts = list[ToolContext]()

    run(lambda _, context: contexts.append(context), stop=stop)
    stop.stop(HandBack("stopping"))

    assert stop.listeners == 0
    assert not contexts[0].cancelled.is_set()


def test_an_interruption_inside_a_tool_is_not_taken_for_its_error() -> None:
    flags = list[CancelFlag]()

    def behave(_: JsonObject, context: ToolContext) -> None:
        assert isinstance(context.cancelled, CancelFlag)
        flags.append(context.cancelled)
        raise ClaimLost("of a turn the tool ran")

    with pytest.raises(ClaimLost, match="of a turn the tool ran"):
        run(behave)

    assert flags[0].is_set()
