"""Clients whose answers say what they cost."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, cast

from runner.core.cost import believed
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest, Usage
from runner.core.ports import ModelClient
from runner.core.tooling import Cancellation
from runner.definitions.config import ClientConfig
from runner.definitions.price import Price

#: The provider in the public price list that stands behind each kind of client.
_PROVIDERS: Final = MappingProxyType({"anthropic": "anthropic"})
_PRICE_LIST: Final = "runner.clients.price_list"
_PER_MILLION: Final = Decimal("1e-6")


class _PriceList(Protocol):
    def list_price(self, provider: str, model: str, usage: Usage) -> Decimal | None: ...


def with_prices(
    client: ModelClient, definition: ClientConfig, prices: Mapping[str, Price]
) -> ModelClient:
    """
    Make a client's answers say what they cost at the moment they come.

    Args:
        client: The client.
        definition: What the config says of it; its kind leads to the public price list.
        prices: The operator's prices by model id, which come before that list.
    """
    listed = _listed(definition)

    def price(model: str, usage: Usage) -> Decimal | None:
        own = prices.get(model)
        usd = listed(model, usage) if own is None else charged(own, usage)
        return None if usd is None else believed(usd)

    return PricedClient(client, price)


def charged(price: Price, usage: Usage) -> Decimal:
    """Reckon what *usage* costs; thinking is part of the output and is charged with it."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    total = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_read_tokens * read
        + usage.cache_write_tokens * write
    )
    return total * _PER_MILLION


def _listed(definition: ClientConfig) -> Callable[[str, Usage], Decimal | None]:
    """Find the public list's prices for a kind of client, loading it only if that has some."""
    provider = _PROVIDERS.get(definition.type)
    if provider is None:
        return lambda _model, _usage: None
    return partial(cast("_PriceList", import_module(_PRICE_LIST)).list_price, provider)


class PricedClient:
    """A client that puts a price on every answer of another."""

    def __init__(self, client: ModelClient, price: Callable[[str, Usage], Decimal | None]) -> None:
        """
        Begin.

        Args:
            client: The other.
            price: Says what a request to a model costs that took so much; None where it is unknown.
        """
        self._client = client
        self._price = price

    @property
    def max_attempts(self) -> int:
        return self._client.max_attempts

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        response = self._client.complete(request, on_delta, cancelled)
        return replace(response, cost=self._price(response.model, response.usage))

    def render(self, request: ModelRequest) -> RenderedRequest:
        return self._client.render(request)
