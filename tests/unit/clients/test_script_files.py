from datetime import timedelta
from pathlib import Path

import pytest

from runner.clients.script_files import _problems, load_scripts, script_problems
from runner.core.errors import ConfigError
from runner.definitions.codes import Code

HELLO = """\
- agent: hello
  when: (?i)good morning
  answers:
    - thinking: Someone greets.
      text: Good morning!
      delay: 250ms
      usage: {output_tokens: 3}
- agent: hello
  answers:
    - tool_calls: [{name: look_up, arguments: {word: tea, deep: [1, {a: null}]}}]
      error: {kind: unavailable, retry_after: 2s, times: 1}
    - {text: Done., stop: max_tokens}
"""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_script_says_what_is_answered_to_whom(tmp_path: Path) -> None:
    write(tmp_path, "hello.yaml", HELLO)

    greeting, other = load_scripts(["hello.yaml"], root=tmp_path)

    assert greeting.matches("hello", "Oh, GOOD MORNING to you")
    assert not greeting.matches("hello", "good evening")
    assert not greeting.matches("other", "good morning")
    assert other.matches("hello", "anything", "look_up")
    assert greeting.answers[0].delay == timedelta(milliseconds=250)
    assert other.answers[0].tool_calls[0].arguments == {"word": "tea", "deep": [1, {"a": None}]}
    assert other.answers[0].error is not None
    assert other.answers[0].error.times == 1
    assert other.answers[1].stop == "max_tokens"


def test_entries_keep_the_order_of_patterns_names_and_documents(tmp_path: Path) -> None:
    one = "- {agent: %s, answers: [{text: x}]}\n"
    write(tmp_path, "answers/b.yaml", one % "b")
    write(tmp_path, "answers/a.yaml", one % "a1" + "---\n" + one % "a2")
    write(tmp_path, "first.yaml", one % "first")

    entries = load_scripts(["first.yaml", "answers/*.yaml", "answers/b.yaml"], root=tmp_path)

    assert [entry.agent for entry in entries] == ["first", "a1", "a2", "b"]


def test_a_pattern_may_match_nothing_and_a_file_may_be_empty(tmp_path: Path) -> None:
    write(tmp_path, "empty.yaml", "# nothing yet\n")

    assert load_scripts(["none/*.yaml", "empty.yaml"], root=tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("- agent: [", "s.yaml:1:11: invalid YAML", id="broken-yaml"),
        pytest.param("text: hi", "s.yaml:1:1: ", id="not-a-list"),
        pytest.param(
            "- agent: a\n  answers:\n    - txt: hi\n",
            "s.yaml:3:7: unknown key 'txt' (did you mean 'text'?)",
            id="a-typo",
        ),
        pytest.param(
            "- agent: a\n  answers: []\n",
            "s.yaml:2:12: expected at least one answer",
            id="no-answer",
        ),
        pytest.param(
            "- agent: a\n  when: '('\n  answers: [{}]\n",
            "s.yaml:2:9: not a regular expression: ",
            id="no-pattern",
        ),
        pytest.param(
            "- {agent: a, answers: [{delay: soon, stop: never}]}\n", "and 1 more", id="two-mistakes"
        ),
    ],
)
def test_a_mistake_in_a_script_is_one_clear_error(text: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, "s.yaml", text)

    with pytest.raises(ConfigError) as caught:
        load_scripts(["s.yaml"], root=tmp_path, client="offline")

    assert str(caught.value).startswith("client 'offline': s.yaml:")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        pytest.param("gone.yaml", "cannot read script 'gone.yaml': No such file", id="missing"),
        pytest.param("folder", "cannot read script 'folder': Is a directory", id="a-folder"),
        pytest.param("../out.yaml", "'../out.yaml' lies outside the project", id="outside"),
        pytest.param("link.yaml", "'link.yaml' lies outside the project", id="a-link-outside"),
        pytest.param("l*.yaml", "'l*.yaml' lies outside the project", id="a-found-link"),
        pytest.param("/etc/hosts", "must be relative to the project", id="absolute"),
    ],
)
def test_only_files_of_the_project_are_read(pattern: str, said: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "folder").mkdir(parents=True)
    write(tmp_path, "out.yaml", HELLO)
    (project / "link.yaml").symlink_to(tmp_path / "out.yaml")

    with pytest.raises(ConfigError) as caught:
        load_scripts([pattern], root=project)

    assert said in str(caught.value)


def test_all_mistakes_of_all_scripts_are_told_with_their_lines(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "- agent: a\n  anwsers: [{text: hi}]\n- agent: b\n  answers: []\n")
    write(tmp_path, "b.yaml", "agent: a\n")

    problems = script_problems(["a.yaml", "*.yaml", "gone.yaml"], root=tmp_path)

    assert [(str(problem.location), problem.message) for problem in problems] == [
        ("a.yaml:2:3", "unknown key 'anwsers'"),
        ("a.yaml:4:12", "expected at least one answer"),
        ("b.yaml:1:1", "expected a list of entries"),
    ]
    assert problems[0].hint == "did you mean 'answers'?"
    assert problems[1].source_line == "  answers: []"


def test_a_script_that_cannot_be_opened_any_more_is_a_problem(tmp_path: Path) -> None:
    problems = _problems(tmp_path / "gone.yaml", tmp_path)

    assert [problem.code for problem in problems] == [Code.MISSING_FILE]


def test_a_value_whose_key_is_unknown_is_not_shown(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "- agent: a\n  password: hunter2\n  answers: [{text: hi}]\n")

    (problem,) = script_problems(["a.yaml"], root=tmp_path)

    assert problem.source_line == "  password: *******"
