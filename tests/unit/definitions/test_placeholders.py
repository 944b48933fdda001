import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.definitions.interpolation import fill
from runner.definitions.placeholders import (
    Deferred,
    Placeholder,
    has_variables,
    pieces,
    without_variables,
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("{context.a}", (Placeholder(("context", "a")),)),
        ("{context.a.b-1}", (Placeholder(("context", "a", "b-1")),)),
        ("{{context.a}}", ("{", "context.a", "}")),
        ("${A}{subject.id}", ("${A}", Placeholder(("subject", "id")))),
        ("${A:-x}b", ("${A:-x}", "b")),
        ("$${A}b", ("$${A}", "b")),
        (
            "{principal.x}{context.y}",
            (Placeholder(("principal", "x")), Placeholder(("context", "y"))),
        ),
    ],
)
def test_what_a_template_is_made_of(template: str, expected: tuple[str | Placeholder, ...]) -> None:
    assert pieces(template) == expected


@pytest.mark.parametrize(
    "template",
    [
        "{",
        "}",
        "{}",
        "{account_id}",
        "{context}",
        "{context.}",
        "{context..a}",
        "{contxt.a}",
        "{context.a b}",
        "{context.__class__[0]}",
        "{subject.name}",
        "{subject.id.x}",
        "{turn.id}",
        "{context.a",
    ],
)
def test_a_brace_around_anything_else_is_refused_without_quoting_it(template: str) -> None:
    with pytest.raises(ValueError, match=r"brace|value") as caught:
        pieces(template)

    assert "account_id" not in str(caught.value).replace("{context.account_id}", "")


@pytest.mark.parametrize(
    ("template", "has"),
    [("${A}", True), ("x${A:-y}", True), ("$${A", False), ("{context.a}", False)],
)
def test_a_variable_is_told_from_what_looks_like_one(template: str, has: bool) -> None:  # noqa: FBT001 - a table
    assert has_variables(template) is has


def test_variables_can_be_left_out() -> None:
    assert without_variables("http://${HOST}/$${x", "?") == "http://?/$${x"


def test_what_is_deferred_holds_no_value() -> None:
    filled = fill("Bearer ${TOKEN}", {"TOKEN": "hunter2"}).text

    deferred = Deferred.from_text(filled)

    assert (str(deferred), deferred.reveal()) == ("Bearer ${TOKEN}", "Bearer ${TOKEN}")
    assert Deferred.from_text(str(deferred)) == deferred
    assert Deferred.from_text(fill("$${x", {}).text) == Deferred.from_text("$${x")


@given(st.text())
def test_doubled_braces_stay_what_they_were(text: str) -> None:
    text = text.replace("$", "")

    assert "".join(map(str, pieces(text.replace("{", "{{").replace("}", "}}")))) == text
