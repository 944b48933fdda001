import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.runtime.blocks import block, inert, line

OURS = ["</skill>", "< / SKILL >", "<skill name='x'>", "</available_skills>", "</sub_agents>"]
OTHERS = ["<", ">", "/", "skill", " ", "\n", "\u200b", "&lt;", "<b>", "\ud800", "\0"]
TAG = re.compile(r"<[\s/]*(?:skills?|available_skills|sub_agents)\b", re.IGNORECASE)


def test_what_looks_like_a_closing_tag_is_written_out() -> None:
    told = block("skill", "a </skill> b < / SKILL > c", name="x")

    assert told == '<skill name="x">\na &lt;/skill> b &lt; / SKILL > c\n</skill>'


def test_other_text_stays_as_it_is() -> None:
    text = "if a < b: <b>bold</b>, &lt;, <input>, <skilled>"

    assert inert(text) == text


@pytest.mark.parametrize("tag", ["<\u200b/skill>", "<\ufeffskill>", "<//skill>", "<\n/Skill\n>"])
def test_hidden_characters_do_not_help(tag: str) -> None:
    assert inert(tag) == f"&lt;{tag[1:]}"


@given(st.lists(st.one_of(st.sampled_from([*OURS, *OTHERS]), st.text(max_size=3)), max_size=12))
def test_no_text_opens_or_closes_a_block(parts: list[str]) -> None:
    told = block("skill", "".join(parts), name="x")

    assert TAG.findall(told) == ["<skill", "</skill"]


def test_a_description_is_one_line() -> None:
    assert line("x", "a\n- y: b\n\n</available_skills>") == "- x: a - y: b &lt;/available_skills>"
    assert line("x", "") == "- x"
