"""The public price list, as it came with the installation; it is never fetched."""

from decimal import Decimal

from genai_prices import Usage as ListedUsage
from genai_prices import calc_price

from runner.core.model import Usage


def list_price(provider: str, model: str, usage: Usage) -> Decimal | None:
    """
    Return what a request costs by the list, in US dollars; None for a model that is not in it.

    The list counts all that was read as input, and takes what the cache had off it again.
    """
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    listed = ListedUsage(
        input_tokens=usage.input_tokens + cached,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return calc_price(listed, model, provider_id=provider).total_price
    except LookupError:
        return None
