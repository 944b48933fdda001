import pytest

from runner.definitions.nodes import ScalarValue
from runner.definitions.yaml_scalars import resolve


@pytest.mark.parametrize(
    "text", ["yes", "no", "on", "off", "0755", "12:30:45", "2026-01-31", "1_000", "0o9", "-", "."]
)
def test_what_older_yaml_reads_otherwise_is_text(text: str) -> None:
    assert resolve(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("12", 12),
        ("+12", 12),
        ("-3", -3),
        ("0", 0),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1e3", 1000.0),
    ],
)
def test_constants_and_numbers_have_their_core_meaning(text: str, value: ScalarValue) -> None:
    found = resolve(text)

    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "1e999", "9" * 30, "9" * 5000])
def test_a_number_that_json_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quote it"):
        resolve(text)
