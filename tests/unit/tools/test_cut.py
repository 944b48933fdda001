import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.core.jsonvalue import JsonObject, dump_json
from runner.tools.cut import MIN_CHARS, cut_object, cut_text


def test_a_text_that_fits_is_left_alone() -> None:
    assert cut_text("a" * 100, max_chars=100) == "a" * 100


def test_a_long_text_keeps_its_beginning_and_end_and_says_how_long_it_was() -> None:
    text = "beginning" + "x" * 10_000 + "end"

    cut = cut_text(text, max_chars=200)

    assert cut.startswith("beginningxxx")
    assert cut.endswith("xxxend")
    assert "10012 characters, of which the middle is left out" in cut
    assert len(cut) == 200


def test_characters_that_need_more_room_in_json_are_counted_by_it() -> None:
    cut = cut_text('"' * 1_000, max_chars=200)

    assert 190 <= len(json.dumps(cut, ensure_ascii=False)) - 2 <= 200


def test_a_text_that_fits_only_without_its_escapes_is_cut() -> None:
    assert cut_text("\n" * 150, max_chars=200) != "\n" * 150


def test_an_object_that_fits_is_left_alone() -> None:
    content = {"a": "b" * 300}

    assert cut_object(content, max_chars=308) is content


def test_the_longest_text_of_an_object_is_cut_where_it_stands() -> None:
    content: JsonObject = {"path": "notes.txt", "text": "x" * 5_000, "lines": 3}

    cut = cut_object(content, max_chars=1_000)

    assert list(cut) == ["path", "text", "lines"]
    assert (cut["path"], cut["lines"]) == ("notes.txt", 3)
    assert len(dump_json(cut)) == 1_000


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"items": list(range(1_000))}, id="many-values"),
        pytest.param({str(number): "x" * 50 for number in range(100)}, id="many-texts"),
        pytest.param({"x" * 5_000: 1}, id="a-long-key"),
        pytest.param({"inner": {"text": "x" * 5_000}}, id="a-long-text-deeper-down"),
    ],
)
def test_an_object_without_one_long_text_is_cut_as_a_whole(content: JsonObject) -> None:
    text = json.dumps(content)

    cut = cut_object(json.loads(text), max_chars=500)

    assert list(cut) == ["result_as_json"]
    shown = str(cut["result_as_json"])
    assert shown.startswith(text[:5])
    assert shown.endswith(text[-1])
    assert 490 <= len(dump_json(cut)) <= 500


def test_a_text_that_would_be_all_but_gone_is_not_cut_where_it_stands() -> None:
    content: JsonObject = {"text": "x" * 300, "items": ["y" * 300]}

    cut = cut_object(content, max_chars=360)

    assert list(cut) == ["result_as_json"]
    assert len(dump_json(cut)) <= 360


def test_there_is_always_room_to_say_that_something_was_cut() -> None:
    cut = cut_object({"text": "x" * 5_000}, max_chars=1)

    assert "the middle is left out" in dump_json(cut)
    assert len(dump_json(cut)) <= MIN_CHARS


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=2_000)


@given(
    content=st.dictionaries(texts, texts | st.lists(texts) | st.integers()),
    max_chars=st.integers(1, 3_000),
)
def test_any_object_is_cut_to_its_length(
    content: dict[str, str | list[str] | int], max_chars: int
) -> None:
    text = dump_json(cut_object(content, max_chars=max_chars))

    assert len(text) <= max(max_chars, MIN_CHARS)
    assert isinstance(json.loads(text), dict)


@given(text=texts, max_chars=st.integers(120, 3_000))
def test_any_text_is_cut_to_its_length(text: str, max_chars: int) -> None:
    cut = cut_text(text, max_chars=max_chars)

    assert len(json.dumps(cut, ensure_ascii=False)) - 2 <= max_chars
