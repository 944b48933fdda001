import json
from datetime import timedelta
from io import StringIO

import pytest
from typing_extensions import override

from runner.cli.text import count, folded, json_text, one_line, outline, plain, span
from runner.core.jsonvalue import JsonObject


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\x1b[31mb\x1b[0mc", "abc", id="colours"),
        pytest.param("a\x1b[2J\x1b[1;1Hb", "ab", id="moves-of-the-cursor"),
        pytest.param("a\x1b]0;title\x07b", "ab", id="a-title"),
        pytest.param("a\x1b]8;;x://y\x1b\\link\x1b]8;;\x1b\\b", "alinkb", id="a-link"),
        pytest.param("a\x1bb\x9bc\x07d\x08e\x00f\x7fg", "abcdefg", id="single-controls"),
        pytest.param("a\u202eb\u2066c\u200fd", "abcd", id="turned-reading-direction"),
        pytest.param("a\r\nb\rc", "a\nbc", id="carriage-returns"),
        pytest.param("a\tb", "a   b", id="a-tab"),
        pytest.param("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:", id="markup-stays"),
        pytest.param("naïve 日本 🎉", "naïve 日本 🎉", id="other-letters-stay"),
    ],
)
def test_what_a_terminal_would_obey_is_dropped(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_line_has_no_breaks_and_an_end() -> None:
    assert one_line(" a\n\n b\tc ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


class Screen(StringIO):
    """A stream that is a terminal."""

    @override
    def isatty(self) -> bool:
        return True


def test_a_line_is_broken_between_words_on_a_terminal_only() -> None:
    line = "words " * 50 + "x" * 300

    shown = folded(line, Screen()).split("\n")

    assert folded(line, StringIO()) == line
    assert len(shown) > 1
    assert shown[-1] == "x" * 300
    assert " ".join(shown) == line


def test_an_outline_shows_texts_as_they_are() -> None:
    value: JsonObject = {
        "a": "one\ntwo\n\x1b[2J",
        "b": [1, {"c": []}, {"d": "x"}],
        "e": {},
        "f": None,
    }

    assert list(outline(value)) == [
        "a:",
        "  one",
        "  two",
        "",
        "b:",
        "  - 1",
        "  -",
        "    c: []",
        "  -",
        "    d: x",
        "e: {}",
        "f: null",
    ]


def test_json_keeps_its_value_and_holds_no_command_to_a_terminal() -> None:
    value = {"text": "\x1b[31m \x9b \u202e \u2028 \x7f ä"}

    written = json_text(value)

    assert json.loads(written) == value
    assert plain(written) == written
    assert "\u2028" not in written
    assert "ä" in written


def test_json_is_compact_on_a_line_and_readable_on_several() -> None:
    assert json_text({"a": [1, 2]}) == '{"a":[1,2]}'
    assert json_text({"a": 1}, indent=2) == '{\n  "a": 1\n}'


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (timedelta(seconds=-1), "0.0s"),
        (timedelta(milliseconds=1240), "1.2s"),
        (timedelta(seconds=42), "42s"),
        (timedelta(seconds=60), "1m"),
        (timedelta(minutes=3, seconds=5), "3m5s"),
        (timedelta(hours=2, minutes=3, seconds=5), "2h3m"),
        (timedelta(days=1, minutes=3), "1d"),
        (timedelta(days=3, hours=7), "3d7h"),
    ],
)
def test_a_length_of_time_is_said_in_at_most_two_units(time: timedelta, said: str) -> None:
    assert span(time) == said


def test_numbers_go_with_their_nouns() -> None:
    assert [count(number, "turn") for number in (0, 1, 2)] == ["no turns", "1 turn", "2 turns"]
