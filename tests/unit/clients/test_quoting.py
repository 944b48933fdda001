import pytest

from runner.clients.quoting import last_result_of, quote, quote_in
from runner.core.jsonvalue import JsonObject
from runner.core.messages import ToolCall
from tests.fakes.transcript import Transcript

RESULT: JsonObject = {"path": "a.md", "sizes": [3, 5], "owner": {"name": "Ada"}, "is_new": True}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param("On {task}.", "On tea.", id="the-task"),
        pytest.param("It is {last_result.path}", "It is a.md", id="a-text-as-it-is"),
        pytest.param("{last_result.owner.name}", "Ada", id="a-nested-value"),
        pytest.param("{last_result.sizes.1}", "5", id="an-item-of-a-list"),
        pytest.param("{last_result.sizes}", "[3,5]", id="a-list-as-json"),
        pytest.param("{last_result.is_new}", "true", id="a-flag-as-json"),
        pytest.param("{last_result.gone}", "{last_result.gone}", id="a-key-it-lacks-stays"),
        pytest.param("{last_result.sizes.7}", "{last_result.sizes.7}", id="an-index-too-far"),
        pytest.param("{last_result.path.x}", "{last_result.path.x}", id="a-key-of-a-text"),
        pytest.param("{task.x}", "{task.x}", id="a-key-of-the-task-stays"),
        pytest.param('{"a": {0}} {__class__}', '{"a": {0}} {__class__}', id="other-braces-stay"),
    ],
)
def test_an_answer_quotes_the_conversation(text: str, quoted: str) -> None:
    assert quote(text, task="tea", last_result=RESULT) == quoted


def test_the_whole_result_is_quoted_as_json() -> None:
    assert quote("{last_result}", task="", last_result={"a": 1}) == '{"a":1}'


def test_what_was_quoted_is_not_looked_at_again() -> None:
    assert quote("{task}", task="{last_result.path}", last_result=RESULT) == "{last_result.path}"


def test_every_text_in_arguments_quotes_and_nothing_else_changes() -> None:
    arguments: JsonObject = {"{task}": ["{task}", 3, None, {"deep": "{last_result.path}!"}]}

    assert quote_in(arguments, task="tea", last_result=RESULT) == {
        "{task}": ["tea", 3, None, {"deep": "a.md!"}]
    }


def test_the_last_result_is_the_latest_of_all() -> None:
    call = ToolCall(call_id="1", name="read_file", arguments={})
    transcript = Transcript().user("go").result(call, {"n": 1}).result(call, {"n": 2}).notice("x")

    assert last_result_of(transcript.messages) == {"n": 2}
    assert last_result_of(Transcript().user("go").messages) == {}
