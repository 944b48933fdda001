import pytest

from runner.definitions.codes import Code
from runner.definitions.interpolation import fill
from runner.definitions.text import Interpolated

ENVIRON = {"NAME": "Ada", "EMPTY": "", "NESTED": "${NAME}", "DOLLARS": "$${NAME}"}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain", "plain"),
        ("$NAME $$ {NAME}", "$NAME $$ {NAME}"),
        ("${NAME}", "Ada"),
        ("a ${NAME} b ${NAME}", "a Ada b Ada"),
        ("${EMPTY}", ""),
        ("${EMPTY:-x}", "x"),
        ("${MISSING:-}", ""),
        ("${MISSING:-a:-b}", "a:-b"),
        ("${NAME:-x}", "Ada"),
        ("${NAME:?why}", "Ada"),
        ("$${NAME}", "${NAME}"),
        ("$$${NAME}", "$${NAME}"),
        ("$${", "${"),
    ],
)
def test_variables_are_put_in(template: str, text: str) -> None:
    filled = fill(template, ENVIRON)

    assert (filled.text, filled.flaws) == (text, ())


@pytest.mark.parametrize(("name", "text"), [("NESTED", "${NAME}"), ("DOLLARS", "$${NAME}")])
def test_what_a_variable_holds_is_not_looked_at_again(name: str, text: str) -> None:
    assert fill(f"${{{name}}}", ENVIRON).text == text


def test_all_unset_variables_are_told_at_once() -> None:
    flaws = fill("${A} ${B:?set it to b} ${NAME} ${EMPTY:?}", ENVIRON).flaws

    assert [flaw.code for flaw in flaws] == [Code.MISSING_VARIABLE] * 3
    assert [flaw.message for flaw in flaws] == [
        "the variable A is not set",
        "the variable B is not set: set it to b",
        "the variable EMPTY is not set",
    ]


@pytest.mark.parametrize(
    "template", ["${", "${}", "${1A}", "${A B}", "${A-x}", "${A:+x}", "${NAME"]
)
def test_a_reference_that_is_none_is_told_without_its_text(template: str) -> None:
    (flaw,) = fill(template, ENVIRON).flaws

    assert flaw.code is Code.BAD_INTERPOLATION
    assert "NAME" not in flaw.message


def test_the_reference_of_a_text_shows_variables_and_nothing_else() -> None:
    text = fill("key-${NAME}-${MISSING:-secret}${EMPTY:-}", ENVIRON).text

    assert isinstance(text, Interpolated)
    assert text.reference == "***${NAME}***${MISSING:-***}${EMPTY:-}"
    assert text.variables == ("NAME", "MISSING", "EMPTY")


def test_each_mention_says_whether_the_variable_is_set_and_needed() -> None:
    variables = fill("${NAME} ${MISSING:-x} ${EMPTY:?}", ENVIRON).variables

    assert [(one.name, one.is_set, one.has_default) for one in variables] == [
        ("NAME", True, False),
        ("MISSING", False, True),
        ("EMPTY", False, False),
    ]
