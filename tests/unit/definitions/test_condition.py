from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import cel
import pytest

from runner.core.errors import BadCondition, ConditionFailed
from runner.definitions.cel_program import CelCondition
from runner.definitions.cel_text import Sketch
from runner.definitions.condition import DECLARED, FUNCTIONS, MAX_LENGTH, METHODS, Inputs, compiled

NOTHING: Mapping[str, object] = {
    name: "" if name in {"agent", "tool", "action"} else {} for name in DECLARED
}


def holds(text: str, **given: object) -> bool:
    return compiled(text).holds(Inputs({**NOTHING, **given}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("arguments.amount > 100.0", True),
        ("arguments.amount == 150", True),
        ("arguments['to'].endsWith('@example.org')", True),
        ("arguments.to.matches('^[a-z]+@') && tool == 'refund'", True),
        ("has(arguments.note) && arguments.note == 'x'", False),
        ("'support' in principal.roles", True),
        ("principal.roles.exists(r, r == 'admin') ? false : agent == 'desk'", True),
        ("principal.roles.map(r, r + '!').filter(r, r.size() > 3).size() == 1", True),
        ("principal.roles.exists_one(r, r.startsWith('s'))  // one of them", True),
        ("turn.depth >= 1 || action == 'tool'", True),
        ("type(arguments.amount) == int && !(context == {})", True),
        ('r"\\d" == "\\\\d" && """a"b""" != \'\'', True),
    ],
)
def test_a_condition_speaks_of_the_attempt(text: str, *, expected: bool) -> None:
    given = {
        "arguments": {"amount": 150, "to": "ada@example.org"},
        "principal": {"roles": ["support"]},
        "context": {"tenant": 1},
        "tool": "refund",
        "agent": "desk",
        "action": "tool",
    }

    assert holds(text, **given) is expected


@pytest.mark.parametrize(
    ("text", "offset", "told"),
    [
        pytest.param("1 +", 3, "its end", id="half an expression"),
        pytest.param("true &&\n  x..y", 12, "not an expression", id="on another line"),
        pytest.param("'ERROR: <input>:9:9: x' ==", 26, "its end", id="like the library's message"),
        pytest.param("agent == 'a' && prncipal.x", 16, "no 'prncipal'", id="a name nobody has"),
        pytest.param("agent.lower() == 'a'", 6, "no function 'lower'", id="no such function"),
        pytest.param("exists(agent, x, true)", 0, "'exists'", id="a loop over nothing"),
        pytest.param("agent.matches(tool)", 6, "written out", id="a pattern from outside"),
        pytest.param("matches(agent, 'a')", 0, "no function", id="a method without its value"),
        pytest.param("tool.int() == 1", 5, "no function", id="a function after its value"),
        pytest.param("agent.matches('a' + tool)", 6, "written out", id="a pattern put together"),
        pytest.param("agent.matches('(')", 14, "no pattern|not a pattern", id="no pattern"),
        pytest.param("size(agent)", 0, "neither true nor false", id="a number"),
        pytest.param("tool > 5", 0, "types", id="a text and a number"),
        pytest.param("1 == 1 + 'a'", 0, "types", id="a sum of a number and a text"),
        pytest.param("x" * (MAX_LENGTH + 1), 0, "at most", id="too long"),
        pytest.param("(" * 300 + "true" + ")" * 300, None, "not an expr", id="too many brackets"),
        pytest.param(
            "[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))", 0, "loops", id="four loops"
        ),
        pytest.param(
            "[1].map(a, a).map(a, a).map(a, a).all(a, true)", 0, "loops", id="loops in a row"
        ),
    ],
)
def test_what_is_no_condition_is_told_at_its_place(
    text: str, offset: int | None, told: str
) -> None:
    with pytest.raises(BadCondition, match=told) as caught:
        compiled(text)

    assert offset is None or caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("agent == 'a' and true", "it does not go on with 'and'", "write && for and"),
        ("agent == 'a' OR true", "it does not go on with 'OR'", "write || for or"),
        ("true && not false", "", "write ! for not"),
        ("agent = 'a'", "it cannot be read from '= '", "write == to compare"),
        ("true & false", "it cannot be read from '& '", "write && for and"),
        ("true | false", "it cannot be read from '| '", "write || for or"),
        ("agent is 'a'", "it does not go on with 'is'", "write == to compare"),
        ("agent ==", "something is missing at its end", ""),
        ("true)", "it does not go on with ')'", ""),
    ],
)
def test_what_other_languages_write_has_a_hint_and_is_told_in_plain_words(
    text: str, told: str, hint: str
) -> None:
    with pytest.raises(BadCondition) as caught:
        compiled(text)

    assert (told in str(caught.value), caught.value.hint) == (True, hint)


def test_a_misspelt_name_has_a_hint() -> None:
    with pytest.raises(BadCondition) as name:
        compiled("argument.x")
    with pytest.raises(BadCondition) as function:
        compiled("agent.startswith('x')")
    with pytest.raises(BadCondition) as loop:
        compiled("all(agent, x, true)")
    with pytest.raises(BadCondition) as method:
        compiled("tool.string() == tool")
    with pytest.raises(BadCondition) as neither:
        compiled("zzz")

    assert name.value.hint == "did you mean 'arguments'?"
    assert function.value.hint == "did you mean 'startsWith'?"
    assert method.value.hint == "write it before a value, as in string(value)"
    assert loop.value.hint == "write it after a value, as in value.all(…)"
    assert neither.value.hint.startswith("there are action, agent, ")


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("contains('a')", "a"),
        ("startsWith('a')", "a"),
        ("endsWith('a')", "a"),
        ("matches('a')", "a"),
        ("size()", "a"),
    ],
)
def test_a_method_of_text_that_may_be_called_exists(call: str, value: str) -> None:
    assert call.partition("(")[0] in METHODS
    assert holds(f"arguments.x.{call} in [true, 1]", arguments={"x": value})


@pytest.mark.parametrize("name", sorted(name for name in METHODS if name.startswith("get")))
def test_a_method_of_a_time_that_may_be_called_exists(name: str) -> None:
    text = f"timestamp(arguments.x).{name}() >= 0"

    assert holds(text, arguments={"x": "2026-02-03T04:05:06Z"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 1) for name in FUNCTIONS - {"has", "bytes", "size", "timestamp", "duration"}),
        ("bytes", "a"),
        ("size", "a"),
        ("timestamp", "2026-02-03T04:05:06Z"),
        ("duration", "1s"),
    ],
)
def test_a_function_that_may_be_called_exists(name: str, value: object) -> None:
    text = f"has(arguments.x) && {name}(arguments.x) == {name}(arguments.x)"

    assert holds(text, arguments={"x": value})


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        ("arguments.x > 1", {}, 'no "x"'),
        ("arguments.x > 1", {"x": "a"}, "types"),
        ("!arguments.x", {"x": "a"}, "types"),
        ("arguments.x", {"x": 1}, "neither"),
        ("arguments.x", {"x": None}, "neither"),
        ("arguments.x / 0 == 1", {"x": 1}, "divided"),
        ("arguments.x + 1 > 0", {"x": 2**63 - 1}, "too large"),
        ("arguments.x > 0", {"x": 2**63}, "too large"),
        ("arguments.x > 0", {"x": float("nan")}, "not JSON"),
        ("arguments.x == 'a'", {"x": "\ud800"}, "cannot be evaluated"),
        ("arguments.x == 'a'", {"x": b"a"}, "not JSON"),
        ("arguments.x == 'a'", {"x": object()}, "not JSON"),
        ("arguments.x[3] == 1", {"x": [1]}, "shorter"),
        ("timestamp(arguments.x) == timestamp(arguments.x)", {"x": "soon"}, "cannot be evaluated"),
        ("int(arguments.x) > 0", {"x": "one"}, "cannot be evaluated"),
        ("arguments.x == 'a'", {"x": "a", "y": "b" * 300_000}, "too much to look at"),
        ("arguments.x == 'a'", {"x": "a", "b" * 300_000: "y"}, "too much to look at"),
        ("size(arguments.x) > 0", {"x": [1] * 30_000}, "too much to look at"),
        ("arguments.x.all(i, arguments.x.all(j, i == j))", {"x": [1] * 200}, "go through"),
        ("arguments.x.all(i, i.matches('^a+$'))", {"x": ["a"] * 500}, "go through"),
        ("arguments.x.all(i, i == arguments.y)", {"x": ["a"] * 500, "y": "b" * 90_000}, "go thr"),
    ],
)
def test_a_condition_that_cannot_be_told_fails(
    text: str, arguments: Mapping[str, object], told: str
) -> None:
    with pytest.raises(ConditionFailed, match=told):
        holds(text, arguments=arguments)


def test_of_a_key_that_is_missing_only_the_beginning_is_told() -> None:
    with pytest.raises(ConditionFailed) as caught:
        holds("context[arguments.x] == 1", arguments={"x": "k" * 10_000})

    assert str(caught.value) == f'there is no "{"k" * 60}"'


def test_what_is_nested_too_deeply_fails_and_harms_nobody() -> None:
    nested: object = "x"
    for _ in range(100_000):
        nested = {"x": nested}

    with pytest.raises(ConditionFailed, match="too much"):
        holds("arguments == {}", arguments=nested)


def test_only_what_a_condition_uses_is_looked_at() -> None:
    assert holds("agent == 'desk'", agent="desk", arguments={"x": "a" * 1_000_000})


def test_loops_beside_one_another_are_affordable() -> None:
    text = "arguments.x.all(i, i > 0) && arguments.x.exists(i, i > 1) || arguments.x.all(i, i < 0)"

    assert holds(text, arguments={"x": [1, 2] * 1_000})


class PanicException(BaseException):
    """What the language's library raises where it fails in a way that was not foreseen."""


class Failing:
    """A program that raises."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def variables(self) -> list[str]:
        return []

    def execute(self, _: object) -> object:
        raise self._error


def failing(error: BaseException) -> CelCondition:
    return CelCondition(cast("cel.Program", Failing(error)), Sketch())


def test_a_library_that_gives_up_is_a_condition_that_failed() -> None:
    with pytest.raises(ConditionFailed, match="cannot be evaluated"):
        failing(PanicException()).holds(Inputs(NOTHING))


def test_an_interruption_is_none() -> None:
    with pytest.raises(KeyboardInterrupt):
        failing(KeyboardInterrupt()).holds(Inputs(NOTHING))


def test_one_condition_serves_many_threads() -> None:
    condition = compiled("arguments.x.exists(i, i == arguments.y)")

    def ask(number: int) -> bool:
        inputs = Inputs({**NOTHING, "arguments": {"x": [1, number], "y": number}})
        return condition.holds(inputs)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(4_000)))
