import pytest

from runner.context.rendering import as_text, render, render_json, render_value
from runner.core.errors import OutboundRefused
from runner.core.jsonvalue import JsonObject, JsonValue
from tests.fakes.contributors import known

ABOUT = known(
    context={
        "account": {"id": 7, "tags": ["a", "b"]},
        "none": None,
        "tricky": "${TOKEN}{subject.id}",
    },
    principal={"name": "Ann", "admin": True},
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain", "plain"),
        ("{principal.name}/{subject.type}/{subject.id}", "Ann/ticket/4711"),
        ("{context.account.id}", "7"),
        ("{context.account}", '{"id":7,"tags":["a","b"]}'),
        ("{principal.admin}", "true"),
        ("{{context.x}} ${TOKEN} $${X} ${NO:-d}", "{context.x} secret ${X} d"),
        pytest.param(
            "{context.tricky}", "${TOKEN}{subject.id}", id="a-value-is-not-looked-at-again"
        ),
    ],
)
def test_values_and_variables_are_put_in_once(template: str, expected: str) -> None:
    assert render(template, ABOUT, environ={"TOKEN": "secret"}) == expected


def test_what_a_variable_holds_is_not_looked_at_again() -> None:
    environ = {"A": "{context.account.id}${B}", "B": "b"}

    assert render("${A}", ABOUT, environ=environ) == "{context.account.id}${B}"


def test_where_variables_are_text_they_stay() -> None:
    assert render("${HOME} {subject.id}", ABOUT, environ=None) == "${HOME} 4711"


def test_values_are_encoded_and_what_is_written_is_not() -> None:
    assert (
        render("a-{subject.id}", ABOUT, environ={}, encode=lambda value: f"<{value}>") == "a-<4711>"
    )


@pytest.mark.parametrize(
    "template",
    ["{context.missing}", "{context.account.id.deeper}", "{context.none}", "{principal.x}"],
)
def test_a_value_that_is_not_there_is_told_by_its_path(template: str) -> None:
    with pytest.raises(OutboundRefused, match=f"no value '{template[1:-1]}'"):
        render(template, ABOUT, environ={})


@pytest.mark.parametrize("template", ["{principal.name}", "{subject.id}"])
def test_a_turn_without_principal_and_subject_has_no_such_values(template: str) -> None:
    with pytest.raises(OutboundRefused, match="no value"):
        render(template, known(subject=None), environ={})


def test_a_variable_that_is_not_set_is_told() -> None:
    with pytest.raises(OutboundRefused, match="the variable GONE is not set"):
        render("${GONE}", ABOUT, environ={})


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{context.account.id}", 7),
        ("{principal.admin}", True),
        ("n{context.account.id}", "n7"),
        ("", ""),
    ],
)
def test_a_value_alone_keeps_its_type(template: str, expected: JsonValue) -> None:
    assert render_value(template, ABOUT, environ={}) == expected


def test_values_are_put_into_all_texts_of_a_body() -> None:
    body: JsonObject = {
        "id": "{context.account.id}",
        "list": ["{subject.id}", 1, None],
        "plain": {"a": "${X}"},
    }

    assert render_json(body, ABOUT) == {
        "id": 7,
        "list": ["4711", 1, None],
        "plain": {"a": "${X}"},
    }


def test_a_text_is_written_as_it_is() -> None:
    assert (as_text("a"), as_text(["a"]), as_text(1.5)) == ("a", '["a"]', "1.5")
