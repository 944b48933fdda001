"""The public price list, as it came with the installation; it is never fetched."""

from decimal import Decimal

from genai_prices import Usage as ListedUsage
from genai_prices import calc_price

from runner.core.model import Usage


def list_price(provider: str, model: str, usage: Usage) -> Decimal | None:
    """
    Return what a request costs by the list, in US dollars; None where that cannot be known.

    A model may not be in the list, and a provider may report what no request takes.
    """
    try:
        return calc_price(_as_listed(usage), model, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None


def _as_listed(usage: Usage) -> ListedUsage:
    """Count as input all that was read: the list takes off it again what has another price."""
    return ListedUsage(
        input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
