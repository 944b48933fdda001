import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from runner.clients.price_list import list_price
from runner.clients.pricing import charged, with_prices
from runner.core.model import ModelRequest, Usage
from runner.definitions.config import AnthropicClient, ClientConfig, ScriptedClient
from runner.definitions.price import Price
from runner.definitions.secret import Secret
from runner.tools.cancel import CancelFlag
from tests.fakes.client import FakeClient, says

CLAUDE = AnthropicClient(type="anthropic", api_key=Secret.from_text("none"))
SCRIPTED = ScriptedClient(type="scripted")
REQUEST = ModelRequest(agent="a", model="fake-1", system="", messages=(), max_tokens=10)
PRICE = Price(
    input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75")
)
#: Ends the program with the first use of the network.
OFFLINE = """
import sys
def refuse(event, _arguments):
    assert not event.startswith("socket."), event
sys.addaudithook(refuse)
from runner.clients.price_list import list_price
from runner.core.model import Usage
print(list_price("anthropic", "claude-sonnet-5-5", Usage(input_tokens=1000)))
"""


def cost_of(
    definition: ClientConfig, prices: Mapping[str, Price], *, model: str = "fake-1", **usage: int
) -> Decimal | None:
    """Return what a client says of an answer that took so much."""
    answering = FakeClient(replace(says("Hi.", **usage), model=model))
    client = with_prices(answering, definition, prices)
    return client.complete(REQUEST, lambda _delta: None, CancelFlag()).cost


def test_every_kind_of_token_has_its_price() -> None:
    usage = Usage(input_tokens=1, output_tokens=10, cache_read_tokens=100, cache_write_tokens=1000)

    assert charged(PRICE, usage) == Decimal("0.003933")


def test_thinking_is_paid_for_as_output_and_not_twice() -> None:
    assert charged(PRICE, Usage(output_tokens=10, thinking_tokens=9)) == Decimal("0.00015")


def test_without_a_price_of_its_own_the_cache_costs_what_input_does() -> None:
    price = Price(input=Decimal(2), output=Decimal(10))

    assert charged(price, Usage(cache_read_tokens=3, cache_write_tokens=4)) == Decimal("0.000014")


@pytest.mark.parametrize("definition", [CLAUDE, SCRIPTED], ids=["claude", "scripted"])
def test_the_operators_price_comes_first(definition: ClientConfig) -> None:
    prices = {"claude-sonnet-5-5": PRICE}

    assert cost_of(definition, prices, model="claude-sonnet-5-5", output_tokens=2) == Decimal(
        "0.00003"
    )


@pytest.mark.parametrize(
    ("model", "usage", "usd"),
    [
        pytest.param("claude-sonnet-5-5", Usage(input_tokens=7), "0.000014", id="input"),
        pytest.param("claude-sonnet-5-5", Usage(output_tokens=7), "0.00007", id="output"),
        pytest.param(
            "claude-sonnet-5-5",
            Usage(input_tokens=1, cache_read_tokens=10, cache_write_tokens=100),
            "0.000253",
            id="the-cache-beside-the-input",
        ),
        pytest.param(
            "claude-haiku-5-5", Usage(input_tokens=100_000), "0.01", id="up-to-a-long-prompt"
        ),
        pytest.param(
            "claude-haiku-5-5",
            Usage(input_tokens=1, cache_read_tokens=100_000, output_tokens=2),
            "0.0050055",
            id="a-long-prompt-is-dearer-though-it-was-in-the-cache",
        ),
    ],
)
def test_the_list_knows_what_claude_costs(model: str, usage: Usage, usd: str) -> None:
    assert list_price("anthropic", model, usage) == Decimal(usd)


def test_without_the_operators_price_the_list_says_what_claude_costs() -> None:
    other = {"claude-opus-5-5": PRICE}

    assert cost_of(CLAUDE, other, model="claude-sonnet-5-5", input_tokens=7) == Decimal("0.000014")


def test_a_model_that_is_not_in_the_list_has_no_price() -> None:
    assert cost_of(CLAUDE, {}, model="claude-of-tomorrow", input_tokens=7) is None


def test_what_no_provider_bills_has_no_price() -> None:
    assert cost_of(SCRIPTED, {}, model="claude-sonnet-5-5", input_tokens=7) is None


@pytest.mark.parametrize("prices", [{}, {"claude-sonnet-5-5": PRICE}], ids=["listed", "own"])
def test_an_absurd_usage_has_no_price(prices: Mapping[str, Price]) -> None:
    assert cost_of(CLAUDE, prices, model="claude-sonnet-5-5", input_tokens=10**300) is None


def test_a_usage_that_is_no_number_has_no_price() -> None:
    assert list_price("anthropic", "claude-sonnet-5-5", Usage(cache_read_tokens=True)) is None


def test_the_list_is_read_without_the_network() -> None:
    told = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False
    )

    assert (told.stdout.strip(), told.stderr) == ("0.002", "")


def test_a_client_with_prices_is_otherwise_as_it_was() -> None:
    client = FakeClient(says("Hi."), max_attempts=7)

    priced = with_prices(client, SCRIPTED, {})

    assert priced.max_attempts == 7
    assert priced.render(REQUEST) == client.render(REQUEST)
