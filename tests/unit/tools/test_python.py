import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import JsonValue
from typing_extensions import override

from runner.core.errors import ConfigError
from runner.core.tooling import Recovery, ToolRules
from runner.definitions.tool import PythonTool
from runner.tools.cancel import CancelFlag, StopSignal
from runner.tools.invocation import Raised, Returned, TimedOut, run_call
from runner.tools.python import FunctionTool, build
from runner.tools.surroundings import Surroundings
from tests.fakes.tools import tool_context

PATIENCE = 60

SOURCE = '''
    import asyncio
    import functools
    from dataclasses import dataclass
    from enum import Enum

    from runner import ToolContext

    class Unit(Enum):
        CELSIUS = "c"
        FAHRENHEIT = "f"

    @dataclass
    class Forecast:
        city: str
        unit: Unit

    def weather(city: str, unit: Unit = Unit.CELSIUS) -> Forecast:
        """
        Say what the weather is.

        Args:
            city: Where.
        """
        return Forecast(city, unit)

    def loose(city, days):
        return [city, days]

    def silent(city: str): ...

    async def soon(city: str):
        """Say it after a while."""
        await asyncio.sleep(0)
        return city.upper()

    def wrapped(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs)
        return inner

    @wrapped
    async def later(city: str):
        """Say it after a while."""
        await asyncio.sleep(0)
        return city.lower()

    async def never(started: str, ctx: ToolContext):
        """Wait for ever."""
        ctx.append_message(started)
        try:
            if not ctx.cancelled.is_set():
                await asyncio.Event().wait()
        finally:
            ctx.append_message("cleaned up")

    def who(ctx: ToolContext):
        """Say who it is for."""
        return ctx.principal

    def fails(city: str):
        """Fail."""
        raise LookupError(city)
'''


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    folder = tmp_path / "agents" / "python"
    folder.mkdir(parents=True)
    (folder / "sky.py").write_text(dedent(SOURCE))
    return Surroundings(root=tmp_path, python_modules=("agents/python",))


def tool(
    surroundings: Surroundings, function: str, parameters: dict[str, JsonValue] | None = None
) -> FunctionTool:
    definition = PythonTool(
        name="weather",
        description="Look at the sky." if parameters else None,
        python=f"sky:{function}",
        parameters=parameters,
    )
    return build(definition, surroundings)


def test_a_function_describes_itself(surroundings: Surroundings) -> None:
    spec = tool(surroundings, "weather").spec

    assert (spec.name, spec.description) == ("weather", "Say what the weather is.")
    assert spec.parameters["required"] == ["city"]
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert properties["city"] == {"description": "Where.", "type": "string"}


def test_a_definition_describes_it_better(surroundings: Surroundings) -> None:
    definition = PythonTool(name="sky", description="Ask the sky.", python="sky:weather")

    assert build(definition, surroundings).spec.description == "Ask the sky."


def test_rules_come_from_the_definition(surroundings: Surroundings) -> None:
    definition = PythonTool(
        name="weather",
        python="sky:weather",
        terminal="{city} done",
        recovery="replay_safe",
        timeout=timedelta(seconds=90),
        max_result_chars=500,
    )

    assert build(definition, surroundings).rules == ToolRules(
        recovery=Recovery.REPLAY_SAFE,
        terminal=True,
        terminal_message="{city} done",
        timeout=90.0,
        max_result_chars=500,
    )


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_tool_needs_no_template(
    terminal: bool,  # noqa: FBT001 - a table
    surroundings: Surroundings,
) -> None:
    definition = PythonTool(name="weather", python="sky:weather", terminal=terminal)

    rules = build(definition, surroundings).rules

    assert (rules.terminal, rules.terminal_message) == (terminal, None)


def test_arguments_become_what_the_function_expects(surroundings: Surroundings) -> None:
    outcome = run_call(
        tool(surroundings, "weather"),
        {"city": "Rome", "unit": "f"},
        tool_context(),
        seconds=PATIENCE,
        stop=StopSignal(),
    )

    assert outcome == Returned(value={"city": "Rome", "unit": "f"})


def test_what_is_left_out_is_the_functions_default(surroundings: Surroundings) -> None:
    result = tool(surroundings, "weather").invoke({"city": "Rome"}, tool_context())

    assert getattr(result, "unit", None) is not None


def test_a_function_may_ask_for_the_context(surroundings: Surroundings) -> None:
    assert tool(surroundings, "who").invoke({}, tool_context()) == {"user": "ada"}


@pytest.mark.parametrize(("name", "expected"), [("soon", "ROME"), ("later", "rome")])
def test_an_async_function_runs_to_its_end(
    name: str, expected: str, surroundings: Surroundings
) -> None:
    assert tool(surroundings, name).invoke({"city": "Rome"}, tool_context()) == expected


class AskedFlag(CancelFlag):
    """A flag that says when somebody looked at it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    @override
    def is_set(self) -> bool:
        self.asked.set()
        return super().is_set()


def test_an_async_function_is_cancelled_from_another_thread(surroundings: Surroundings) -> None:
    flag = AskedFlag()
    context = tool_context(flag)
    subject = tool(surroundings, "never")

    def cancel() -> None:
        flag.asked.wait(PATIENCE)
        flag.set()

    threading.Thread(target=cancel).start()

    with pytest.raises(asyncio.CancelledError):
        subject.invoke({"started": "go"}, context)

    assert context.appended == ("go", "cleaned up")


def test_an_async_function_whose_call_is_cancelled_already_ends_where_it_first_waits(
    surroundings: Surroundings,
) -> None:
    flag = CancelFlag()
    flag.set()

    with pytest.raises(asyncio.CancelledError):
        tool(surroundings, "soon").invoke({"city": "Rome"}, tool_context(flag))


def test_an_async_function_that_takes_too_long_is_cancelled(surroundings: Surroundings) -> None:
    context = tool_context()

    outcome = run_call(
        tool(surroundings, "never"), {"started": "go"}, context, seconds=1, stop=StopSignal()
    )

    assert isinstance(outcome, TimedOut)
    threads = [each for each in threading.enumerate() if each.name == "tool-weather"]
    for thread in threads:
        thread.join(PATIENCE)
    assert context.appended == ("go", "cleaned up")


class LateFlag(CancelFlag):
    """A flag set in the moment in which a listener leaves, so that it is still called."""

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.listener: Callable[[], None] | None = callback

        def leave() -> None:
            self.listener = None

        self.late = callback
        return leave


def test_nobody_listens_for_a_cancellation_after_the_end(surroundings: Surroundings) -> None:
    flag = LateFlag()

    tool(surroundings, "soon").invoke({"city": "Rome"}, tool_context(flag))

    assert flag.listener is None


def test_a_cancellation_that_comes_as_the_call_ends_does_no_harm(
    surroundings: Surroundings,
) -> None:
    flag = LateFlag()
    result = tool(surroundings, "soon").invoke({"city": "Rome"}, tool_context(flag))

    flag.late()

    assert result == "ROME"


def test_what_a_function_raises_is_not_changed(surroundings: Surroundings) -> None:
    outcome = run_call(
        tool(surroundings, "fails"),
        {"city": "Rome"},
        tool_context(),
        seconds=PATIENCE,
        stop=StopSignal(),
    )

    assert isinstance(outcome, Raised)
    assert repr(outcome.error) == "LookupError('Rome')"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param({"city": "Rome", "unit": "c"}, None, id="none-when-they-fit"),
        pytest.param({}, "the value lacks 'city'", id="missing"),
        pytest.param({"city": 3}, "'city' must be of type string", id="of-another-type"),
        pytest.param({"city": "Rome", "unit": "k"}, "'unit' must be one of", id="not-a-choice"),
        pytest.param({"city": "Rome", "when": 1}, "unexpected 'when'", id="unknown"),
    ],
)
def test_arguments_are_held_against_the_schema(
    arguments: dict[str, JsonValue], complaint: str | None, surroundings: Surroundings
) -> None:
    complaints = tool(surroundings, "weather").complaints(arguments)

    assert len(complaints) == (complaint is not None)
    assert (complaint or "") in "".join(complaints)


def test_declared_parameters_take_the_place_of_types(surroundings: Surroundings) -> None:
    declared: dict[str, JsonValue] = {
        "city": "string",
        "days": {"type": "integer", "default": 3},
    }

    subject = tool(surroundings, "loose", declared)

    assert subject.spec.parameters["required"] == ["city"]
    assert subject.invoke({"city": "Rome"}, tool_context()) == ["Rome", 3]
    assert subject.invoke({"city": "Rome", "days": 1}, tool_context()) == ["Rome", 1]


def test_a_declared_default_that_does_not_fit_the_function_is_reported(
    surroundings: Surroundings,
) -> None:
    declared: dict[str, JsonValue] = {"city": {"type": "integer", "default": 3}}

    with pytest.raises(ConfigError, match="a declared default does not fit the function: 'city'"):
        tool(surroundings, "soon", declared)


def test_declared_parameters_that_let_others_in_do_not_reach_the_function(
    surroundings: Surroundings,
) -> None:
    declared: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": True},
        "required": ["city", "days"],
    }

    complaints = tool(surroundings, "loose", declared).complaints(
        {"city": "Rome", "days": 1, "mood": "good"}
    )

    assert complaints == ("there is no parameter 'mood'",)


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        pytest.param(
            {"city": "string", "days": "integer", "mood": "string"},
            "the function has no parameter 'mood', which is declared",
            id="one-too-many",
        ),
        pytest.param(
            {"city": "string"},
            "the function needs 'days': declare it as required or with a default",
            id="one-too-few",
        ),
        pytest.param(
            {"type": "object"},
            "the function needs 'city'",
            id="none",
        ),
        pytest.param(
            {"type": "object", "properties": {"city": {}, "days": {}}, "required": ["city"]},
            "the function needs 'days'",
            id="one-that-may-be-left-out",
        ),
    ],
)
def test_declared_parameters_that_the_function_has_not_are_reported(
    declared: dict[str, JsonValue], reason: str, surroundings: Surroundings
) -> None:
    with pytest.raises(ConfigError, match=reason):
        tool(surroundings, "loose", declared)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        pytest.param("missing", "there is no function 'missing' in 'sky'", id="not-there"),
        pytest.param("loose", "parameter 'city' has no type", id="untyped"),
        pytest.param("silent", "neither the definition nor the function's docstring", id="silent"),
    ],
)
def test_an_error_names_the_definition_and_the_reference(
    function: str, reason: str, surroundings: Surroundings
) -> None:
    with pytest.raises(ConfigError, match=f"tool 'weather' cannot use 'sky:{function}': {reason}"):
        tool(surroundings, function)
