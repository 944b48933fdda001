import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from runner.core.errors import ToolError
from runner.core.jsonvalue import dump_json
from runner.core.messages import ToolCall, ToolResult
from runner.tools import results
from runner.tools.cut import MIN_CHARS
from tests.unit.tools.values import anything, nested, numbers

CALL = ToolCall(call_id="call_1", name="weather", arguments={"city": "Paris"})
PLENTY = 50_000


def error_of(result: ToolResult) -> tuple[str, str]:
    assert result.is_error
    assert list(result.content) == ["error"]
    error = result.content["error"]
    assert isinstance(error, dict)
    assert list(error) == ["type", "message"]
    return error["type"], error["message"]


class Mute:
    @override
    def __str__(self) -> str:
        raise RuntimeError("no words")


class MuteError(Exception):
    @override
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_object_is_the_result_itself() -> None:
    assert results.returned(CALL, {"sky": "blue"}, PLENTY) == ToolResult(
        call_id="call_1", name="weather", content={"sky": "blue"}
    )


@pytest.mark.parametrize(
    ("value", "wrapped"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param("", "", id="an-empty-text"),
        pytest.param(["a"], ["a"], id="a-list"),
        pytest.param(3.5, 3.5, id="a-number"),
        pytest.param(b"\xff", "�", id="bytes"),
        pytest.param("\ud800", "�", id="a-lone-surrogate"),
        pytest.param(float("nan"), "nan", id="not-a-number"),
        pytest.param(10**400, hex(10**400), id="an-integer-too-large-for-json"),
    ],
)
def test_any_other_value_is_wrapped(value: object, wrapped: object) -> None:
    result = results.returned(CALL, value, PLENTY)

    assert result.content == {"result": wrapped}
    assert not result.is_error


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("x" * 10_000_000, id="ten-megabytes"),
        pytest.param(nested(1_000), id="a-thousand-levels"),
        pytest.param({1: {None: {(2, 3): "keys"}}}, id="keys-that-are-no-text"),
        pytest.param(numbers(), id="a-generator"),
        pytest.param([["x"] * 1_000] * 1_000, id="a-million-values"),
    ],
)
def test_a_monstrous_value_is_a_result_within_its_length(value: object) -> None:
    result = results.returned(CALL, value, 2_000)

    text = dump_json(result.content)
    assert len(text) <= 2_000
    assert json.loads(text) == result.content
    assert not result.is_error


def test_a_value_that_cannot_be_read_is_a_failed_result() -> None:
    kind, message = error_of(results.returned(CALL, {"a": Mute()}, PLENTY))

    assert kind == "RuntimeError"
    assert message == "the tool returned what cannot be read: no words"


@given(value=anything, max_chars=st.integers(1, 500))
def test_anything_returned_is_an_object_within_its_length(value: object, max_chars: int) -> None:
    result = results.returned(CALL, value, max_chars)

    text = dump_json(result.content)
    assert len(text) <= max(max_chars, MIN_CHARS)
    assert json.loads(text) == result.content


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        pytest.param(ValueError("no such city"), "ValueError", "no such city", id="an-error"),
        pytest.param(ToolError("refused"), "ToolError", "refused", id="an-error-of-our-own"),
        pytest.param(SystemExit(3), "SystemExit", "3", id="the-end-of-the-program"),
        pytest.param(KeyboardInterrupt(), "KeyboardInterrupt", "", id="without-a-message"),
        pytest.param(ValueError("a\x00\ud800"), "ValueError", "a��", id="unstorable-text"),
        pytest.param(
            MuteError(), "MuteError", "its message cannot be read", id="without-a-readable-message"
        ),
        pytest.param(
            ExceptionGroup("two", [ValueError("a"), ExceptionGroup("more", [KeyError("b")])]),
            "ExceptionGroup",
            "two: ValueError: a; ExceptionGroup: more: KeyError: 'b'",
            id="a-group",
        ),
    ],
)
def test_an_error_is_told_by_class_and_message(
    error: BaseException, kind: str, message: str
) -> None:
    result = results.raised(CALL, error)

    assert (result.call_id, result.name) == ("call_1", "weather")
    assert error_of(result) == (kind, message)


def test_an_error_tells_nothing_of_where_it_was_raised() -> None:
    def fail() -> None:
        secret = "hunter2"
        raise ValueError("no") from KeyError(secret)

    with pytest.raises(ValueError, match="no") as raised:
        fail()

    text = dump_json(results.raised(CALL, raised.value).content)
    assert "hunter2" not in text
    assert ".py" not in text


def test_a_long_message_is_cut() -> None:
    _, message = error_of(results.raised(CALL, ValueError("x" * 1_000_000)))

    assert len(message) <= 4_000
    assert "the middle is left out" in message


def test_a_refusal_gives_its_reason() -> None:
    assert error_of(results.refused(CALL, "not today")) == ("refused", "not today")


def test_a_skipped_call_gives_its_reason() -> None:
    assert error_of(results.skipped(CALL, "the turn has ended")) == (
        "skipped",
        "the turn has ended",
    )


def test_a_call_that_timed_out_says_after_how_long_and_that_it_may_have_worked() -> None:
    kind, message = error_of(results.timed_out(CALL, 90.0))

    assert kind == "timed_out"
    assert message.startswith("no answer within 90 seconds; the call may still have had its effect")


def test_a_call_without_time_left_says_that_it_was_not_started() -> None:
    assert error_of(results.timed_out(CALL, 0)) == (
        "timed_out",
        "not started: no time is left",
    )


def test_an_interrupted_call_says_that_its_outcome_is_unknown_and_not_to_repeat_it() -> None:
    kind, message = error_of(results.interrupted(CALL))

    assert kind == "interrupted"
    assert "its outcome is unknown" in message
    assert "do not simply repeat it" in message


@pytest.mark.parametrize(
    ("available", "reason"),
    [
        pytest.param(
            ["weather", "time"],
            "there is no tool 'wether'; did you mean 'weather'? the tools are weather, time",
            id="one-that-is-near",
        ),
        pytest.param(["clock"], "there is no tool 'wether'; the tools are clock", id="none-near"),
        pytest.param(
            [],
            "there is no tool 'wether'; there are no tools at all, so answer without",
            id="none-at-all",
        ),
    ],
)
def test_an_unknown_tool_is_refused_with_those_there_are(available: list[str], reason: str) -> None:
    assert results.unknown_tool("wether", available) == reason


def test_invalid_arguments_are_refused_with_every_complaint() -> None:
    reason = results.invalid_arguments("weather", ("'city' must be text", "the value lacks 'day'"))

    assert reason == (
        "the arguments do not fit 'weather': 'city' must be text; the value lacks 'day';"
        " mend them and call again"
    )


def test_a_limit_is_named_by_its_path_and_amount() -> None:
    reason = results.over_limit("limits.max_tool_executions", 40)

    assert reason == (
        "limits.max_tool_executions allows 40, and all are used; go on without this call"
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (results.denied("No mail."), "denied by policy: No mail."),
        (results.denied(""), "denied by policy"),
        (results.disapproved("Not today."), "not approved: Not today."),
        (results.disapproved(None), "not approved by the person who was asked"),
    ],
)
def test_what_was_not_allowed_says_by_whom_and_why(reason: str, said: str) -> None:
    assert error_of(results.refused(CALL, reason)) == ("refused", said)


def test_what_may_not_run_again_says_that_it_may_have_had_its_effect() -> None:
    kind, message = error_of(results.stopped(CALL, "denied by policy"))

    assert kind == "interrupted"
    assert message.startswith("denied by policy; an earlier attempt died and may or may not have")
