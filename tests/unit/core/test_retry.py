import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.core.retry import delay_after


@pytest.mark.parametrize(
    ("attempt", "delay"),
    [
        pytest.param(1, 0.5, id="the-first-wait-is-short"),
        pytest.param(2, 1.0, id="it-doubles"),
        pytest.param(4, 4.0, id="and-doubles"),
        pytest.param(7, 30.0, id="up-to-half-a-minute"),
        pytest.param(100_000, 30.0, id="and-stays-there"),
    ],
)
def test_the_delay_grows_with_each_attempt_and_is_capped(attempt: int, delay: float) -> None:
    assert delay_after(attempt, retry_after=None, jitter=0) == delay


def test_jitter_takes_away_up_to_half() -> None:
    assert delay_after(2, retry_after=None, jitter=1) == 0.5


@pytest.mark.parametrize("asked", [0.2, 2.0, 3600.0])
def test_a_delay_the_provider_asks_for_wins(asked: float) -> None:
    assert delay_after(3, retry_after=asked, jitter=0.7) == asked


@pytest.mark.parametrize("asked", [0.0, -5.0, math.nan])
def test_a_delay_that_is_none_is_not_taken(asked: float) -> None:
    assert delay_after(1, retry_after=asked, jitter=0) == 0.5


@pytest.mark.parametrize("asked", [4_294_967.0, math.inf])
def test_no_provider_puts_a_turn_off_for_more_than_a_day(asked: float) -> None:
    assert delay_after(1, retry_after=asked, jitter=0) == 86_400


@given(
    attempt=st.integers(),
    retry_after=st.none() | st.floats(),
    jitter=st.floats(min_value=0, max_value=1),
)
def test_a_delay_is_always_a_time_to_wait(
    attempt: int, retry_after: float | None, jitter: float
) -> None:
    assert 0 < delay_after(attempt, retry_after=retry_after, jitter=jitter) <= 86_400
