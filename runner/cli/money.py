"""Costs as people read them."""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final

from runner.core.cost import Cost

_FINE: Final = Decimal("0.0001")
_CENT: Final = Decimal("0.01")
_SHORT: Final = {"at least": "≥", "more than": ">", "less than": "<"}


def cost_text(cost: Cost) -> str:
    """Say what requests cost: `$0.0312`, `at least $1.20` or `unpriced`."""
    bound, amount = _rounded(cost)
    return f"{bound} {amount}".strip()


def short_cost(cost: Cost) -> str:
    """Say it in a column: `$0.0312`, `≥$1.20` or `unpriced`."""
    bound, amount = _rounded(cost)
    return f"{_SHORT.get(bound, '')}{amount}"


def _rounded(cost: Cost) -> tuple[str, str]:
    """
    Round an amount to cents, or below a dollar to hundredths of them, and say how to take it.

    What is at least an amount is rounded down, so that it is still true.
    """
    if not cost.is_known:
        return "", "unpriced"
    is_least = cost.unpriced_requests > 0
    unit = _FINE if cost.usd < 1 else _CENT
    rounding = ROUND_FLOOR if is_least else ROUND_HALF_EVEN
    usd = cost.usd.quantize(unit, rounding)
    if is_least:
        return ("at least", f"${usd:,}") if usd else ("more than", "$0")
    if not usd:
        return ("less than", f"${_FINE}") if cost.usd else ("", "$0")
    return "", f"${usd:,}"
