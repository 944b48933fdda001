import pytest

from runner.clients.quoting import Quotable, latest_results, quote, quote_in
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role, ToolCall
from runner.engine.launch import task_parts
from tests.fakes.transcript import Transcript

OTHER: JsonObject = {"path": "b.md", "pages": [{"number": 7}]}
RESULT: JsonObject = {"path": "a.md", "sizes": [3, 5], "owner": {"name": "Ada"}, "is_new": True}
TEA = Quotable(task="tea", results={"list-pages": OTHER, "read_file": RESULT})


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
        pytest.param("{last_result_of.list-pages.path}", "b.md", id="of-a-tool-by-name"),
        pytest.param("{last_result_of.list-pages.pages.0.number}", "7", id="deep-in-that"),
        pytest.param("{last_result_of.read_file.path}", "a.md", id="of-the-latest-by-name"),
        pytest.param("{last_result_of.x.path}", "{last_result_of.x.path}", id="no-such-tool-stays"),
        pytest.param("{last_result_of}", "{last_result_of}", id="of-no-tool-stays"),
        pytest.param("{task.x}", "{task.x}", id="a-key-of-the-task-stays"),
        pytest.param('{"a": {0}} {__class__}', '{"a": {0}} {__class__}', id="other-braces-stay"),
    ],
)
def test_an_answer_quotes_the_conversation(text: str, quoted: str) -> None:
    assert quote(text, TEA) == quoted


def test_the_whole_result_is_quoted_as_json() -> None:
    source = Quotable(results={"one": {"a": 1}, "two": {"b": 2}})

    assert quote("{last_result}", source) == '{"b":2}'
    assert quote("{last_result_of.one}", source) == '{"a":1}'


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param("{input.words.1}", "<b>", id="a-value"),
        pytest.param("{input}", '{"words":["a","<b>"]}', id="the-whole"),
        pytest.param("{input.gone}", "{input.gone}", id="what-it-lacks-stays"),
    ],
)
def test_an_answer_quotes_the_input_that_the_task_carries(text: str, quoted: str) -> None:
    parts = task_parts("Look them up.", {"words": ["a", "<b>"]})
    asked = Transcript().add(Role.USER, *parts).messages[0].text

    assert quote(text, Quotable(task=asked)) == quoted


@pytest.mark.parametrize("task", ["tea", "<input>\n{half\n</input>", "<input>\n{}\n</input> x"])
def test_where_there_is_no_input_nothing_is_quoted(task: str) -> None:
    assert quote("{input} {input.key}", Quotable(task=task)) == "{input} {input.key}"


def test_what_was_quoted_is_not_looked_at_again() -> None:
    source = Quotable(task="{last_result.path}", results={"read_file": RESULT})

    assert quote("{task}", source) == "{last_result.path}"


def test_every_text_in_arguments_quotes_and_nothing_else_changes() -> None:
    arguments: JsonObject = {"{task}": ["{task}", 3, None, {"deep": "{last_result.path}!"}]}

    assert quote_in(arguments, TEA) == {"{task}": ["tea", 3, None, {"deep": "a.md!"}]}


def test_the_latest_result_of_each_tool_is_kept_and_the_latest_of_all_comes_last() -> None:
    one, two = (ToolCall(call_id=name, name=name, arguments={}) for name in ("one", "two"))
    transcript = Transcript().user("go").result(one, {"n": 1}).result(two, {"n": 2})

    later = transcript.result(one, {"n": 3}).notice("x")

    assert list(latest_results(later.messages).items()) == [("two", {"n": 2}), ("one", {"n": 3})]
    assert latest_results(Transcript().user("go").messages) == {}
