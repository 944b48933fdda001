from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from runner.definitions.scalars import Duration, format_duration, parse_duration

DURATION = TypeAdapter[timedelta](Duration)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("10m", 600), ("1h30m", 5400), ("2d", 172_800), ("250ms", 0.25), ("1m5s", 65)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "30", "s", "1.5h", "30m1h", "-5s", "0s", "367d", "1h 30m", "٣s", "9" * 20 + "s"]
)
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(text)


@given(st.integers(min_value=1, max_value=366 * 24 * 3600 * 1000))
def test_a_duration_is_written_as_it_is_read(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)

    assert parse_duration(format_duration(duration)) == duration


def test_a_field_takes_the_text_and_the_value() -> None:
    assert DURATION.validate_python("1m") == timedelta(minutes=1)
    assert DURATION.validate_python(timedelta(minutes=1)) == timedelta(minutes=1)
    assert DURATION.dump_json(timedelta(minutes=90)) == b'"1h30m"'


def test_a_bare_number_is_no_duration() -> None:
    with pytest.raises(ValidationError, match="expected a duration"):
        DURATION.validate_python(30)
