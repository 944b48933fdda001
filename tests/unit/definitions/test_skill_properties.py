"""Whatever is in a SKILL.md, it is a skill or there is a problem that lies inside the file."""

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from runner.definitions.skill import SkillFolder
from tests.unit.definitions.projects import load
from tests.unit.definitions.skills import PLACE

MARKS = [
    "---",
    ":",
    ": ",
    " #",
    "'",
    '"',
    "|",
    ">",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "!!",
    "%",
]
SPACES = ["\n", "\r\n", "\r", " ", "\t", "\ufeff", "\x85", "\u2028", "\0"]
LINES = ["name: letters\n", "description: a\n", "metadata:\n", "license: b\n", "---\n"]
WORDS = [
    "${X}",
    "name",
    "allowed-tools: ",
    "Use when: x\n",
    "</skill>",
    "Bash(git:*)",
    ",",
    "@",
    "?",
]
PIECES = st.sampled_from([*MARKS, *SPACES, *LINES, *WORDS])
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=25).map("".join)
HEADS = st.lists(st.one_of(PIECES, st.characters().map(str)), max_size=12).map(
    lambda parts: f"---\nname: letters\ndescription: {''.join(parts)}\n---\nBe brief.\n"
)


def assert_read_or_told(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = load(Path(folder), {PLACE: data})
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").splitlines() or [""]
    for problem in project.problems:
        assert 1 <= problem.line <= len(lines) + 1
        assert problem.column >= 1
        assert len(problem.message) < 500
        assert "Traceback" not in problem.message
    if not project.is_sound:
        assert not project.registry.skills
        return
    skill = project.registry.skill("letters")
    assert isinstance(skill, SkillFolder)
    assert skill.description.strip()
    assert skill.content is not None


@given(st.binary(max_size=80))
@example(b"---\n\xff")
@example(b"\xef\xbb\xbf---\n---\n")
def test_any_bytes_are_a_skill_or_a_problem(data: bytes) -> None:
    assert_read_or_told(data)


@given(TEXTS)
@example("---\nname: letters\ndescription: a\nmetadata: .nan\n---")
def test_any_text_is_a_skill_or_a_problem(text: str) -> None:
    assert_read_or_told(text.encode("utf-8", "replace"))


@given(HEADS)
@example("---\nname: letters\ndescription: a: '\n  b'': c\n---\n")
def test_any_description_is_a_skill_or_a_problem(text: str) -> None:
    assert_read_or_told(text.encode("utf-8", "replace"))
