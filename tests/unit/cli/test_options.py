from pathlib import Path

import pytest

from runner.cli.options import read_json, read_object
from runner.core.errors import UsageError


def test_json_is_read_in_place_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text('{"a": "ä"}', encoding="utf-8")

    assert read_json("--input", '{"a": 1}') == {"a": 1}
    assert read_json("--input", f"@{file}") == {"a": "ä"}
    assert read_json("--input", "null") is None
    assert read_json("--input", None) is None


def test_text_that_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"--input is not JSON: .* at line 1, column 2; write it"):
        read_json("--input", "{a: 1}")


def test_a_file_that_is_no_text_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_bytes(b"\xff\xfe")

    with pytest.raises(UsageError, match=r"input\.json is not UTF-8"):
        read_json("--input", f"@{file}")


def test_a_file_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.json"):
        read_json("--input", f"@{tmp_path / 'missing.json'}")


def test_an_object_is_wanted_where_tools_read_it() -> None:
    assert read_object("--context", None) == {}
    assert read_object("--context", '{"customer": 7}') == {"customer": 7}
    with pytest.raises(UsageError, match="--context wants a JSON object"):
        read_object("--context", "[1]")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000], ids=["depth", "digits"])
def test_json_beyond_what_can_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--input cannot be read"):
        read_json("--input", text)
