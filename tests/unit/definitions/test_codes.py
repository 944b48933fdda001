import re
from pathlib import Path

import pytest

import runner
from runner.definitions.codes import Code

SOURCES = "".join(
    path.read_text()
    for path in Path(str(runner.__file__)).parent.rglob("*.py")
    if path.name != "codes.py"
)


@pytest.mark.parametrize("code", Code)
def test_a_code_is_a_word_with_a_sentence(code: Code) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert code.name == code.upper().replace("-", "_")
    assert code.meaning.endswith(".")


@pytest.mark.parametrize("code", Code)
def test_a_code_is_used(code: Code) -> None:
    assert f"Code.{code.name}" in SOURCES


def test_codes_are_sorted() -> None:
    assert list(Code) == sorted(Code)


def test_a_code_is_found_by_its_word() -> None:
    assert Code.named("unknown-key") is Code.UNKNOWN_KEY
