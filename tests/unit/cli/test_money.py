from decimal import Decimal

import pytest

from runner.cli.money import cost_text, short_cost
from runner.core.cost import Cost


def cost(usd: str, unpriced: int = 0) -> Cost:
    return Cost(usd=Decimal(usd), unpriced_requests=unpriced)


@pytest.mark.parametrize(
    ("cost", "text", "short"),
    [
        pytest.param(cost("0"), "$0", "$0", id="nothing"),
        pytest.param(cost("0.03125"), "$0.0312", "$0.0312", id="less-than-a-dollar"),
        pytest.param(cost("0.00002"), "less than $0.0001", "<$0.0001", id="next-to-nothing"),
        pytest.param(cost("1.005"), "$1.00", "$1.00", id="dollars"),
        pytest.param(cost("12345.6"), "$12,345.60", "$12,345.60", id="many-dollars"),
        pytest.param(cost("0", 1), "unpriced", "unpriced", id="nothing-has-a-price"),
        pytest.param(cost("1.239", 1), "at least $1.23", "≥$1.23", id="not-all-has-a-price"),
        pytest.param(cost("0.00002", 1), "more than $0", ">$0", id="hardly-anything-has-a-price"),
    ],
)
def test_a_cost_is_said_as_exactly_as_it_is_known(cost: Cost, text: str, short: str) -> None:
    assert cost_text(cost) == text
    assert short_cost(cost) == short
