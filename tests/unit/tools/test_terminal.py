import pytest

from runner.core.jsonvalue import JsonObject
from runner.tools.terminal import terminal_message

CONTENT: JsonObject = {
    "path": "briefs/a.md",
    "file": {"size": 12, "tags": ["x", "y"]},
    "brace": "{path}",
    "none": None,
}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param("saved", "saved", id="text-without-places"),
        pytest.param("{path} saved", "briefs/a.md saved", id="a-key"),
        pytest.param("{file}", '{"size": 12, "tags": ["x", "y"]}', id="an-object-as-json"),
        pytest.param("{none}", "null", id="nothing"),
        pytest.param("{nowhere} saved", "{nowhere} saved", id="a-key-that-is-missing"),
        pytest.param("{brace}", "{path}", id="what-is-put-in-is-not-looked-at-again"),
        pytest.param("{{path}}", "{path}", id="a-doubled-brace"),
        pytest.param("{path.__class__}", "{path.__class__}", id="no-attributes"),
        pytest.param("{path!r} {path:>90}", "{path!r} {path:>90}", id="no-formats"),
    ],
)
def test_a_template_is_filled_with_the_keys_of_a_result(template: str, message: str) -> None:
    assert terminal_message(template, CONTENT) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param({"result": "done"}, "done", id="a-wrapped-text-as-it-is"),
        pytest.param({"result": None}, "null", id="wrapped-nothing"),
        pytest.param({"path": "a.md"}, '{"path":"a.md"}', id="an-object-as-json"),
        pytest.param(
            {"result": "done", "at": 1}, '{"result":"done","at":1}', id="more-than-a-result"
        ),
    ],
)
def test_without_a_template_the_result_is_shown_itself(content: JsonObject, message: str) -> None:
    assert terminal_message(None, content) == message
