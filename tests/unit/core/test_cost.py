from decimal import Decimal

import pytest

from runner.core.cost import MOST, Cost, believed, dollars

ONE = Cost(usd=Decimal("0.1"))
UNKNOWN = Cost(unpriced_requests=1)


def test_costs_add_up_exactly() -> None:
    total = ONE + Cost(usd=Decimal("0.2"), unpriced_requests=2) + UNKNOWN

    assert total == Cost(usd=Decimal("0.3"), unpriced_requests=3)


def test_a_request_without_a_price_is_counted_and_not_guessed() -> None:
    assert ONE.with_request(Decimal("0.02")) == Cost(usd=Decimal("0.12"))
    assert ONE.with_request(None) == Cost(usd=Decimal("0.1"), unpriced_requests=1)


def test_what_a_turn_cannot_have_cost_is_not_added() -> None:
    full = Cost(usd=MOST)

    assert full.with_request(Decimal("0.01")) == Cost(usd=MOST, unpriced_requests=1)


@pytest.mark.parametrize(
    ("cost", "is_known"),
    [
        pytest.param(Cost(), True, id="nothing-was-asked"),
        pytest.param(ONE, True, id="all-had-a-price"),
        pytest.param(ONE + UNKNOWN, True, id="some-had-a-price"),
        pytest.param(UNKNOWN, False, id="none-had-a-price"),
    ],
)
def test_a_cost_is_known_unless_nothing_had_a_price(cost: Cost, *, is_known: bool) -> None:
    assert cost.is_known == is_known


def test_programs_get_every_digit_or_null() -> None:
    assert (ONE + UNKNOWN).as_json() == {"cost": "0.1", "unpriced_requests": 1}
    assert UNKNOWN.as_json() == {"cost": None, "unpriced_requests": 1}
    assert Cost().as_json() == {"cost": "0", "unpriced_requests": 0}


@pytest.mark.parametrize(
    ("usd", "written"),
    [("0E-12", "0"), ("0.003270000000", "0.00327"), ("1E-12", "0.000000000001"), ("1E+2", "100")],
)
def test_an_amount_is_written_with_the_digits_it_needs(usd: str, written: str) -> None:
    assert dollars(Decimal(usd)) == written


def test_amounts_are_told_apart_to_the_picodollar_and_absurd_ones_not_believed() -> None:
    assert believed(Decimal("0.0000000000014")) == Decimal("0.000000000001")
    assert believed(MOST) == MOST
    assert believed(Decimal("1e40")) is None
