"""What a project's turns cost, by the prices of its config and the public list."""

from decimal import Decimal
from pathlib import Path

import pytest

from runner import Runner
from runner.core.cost import Cost
from tests.fakes.dispatcher import FakeDispatcher
from tests.servers.messages_api import messages_api
from tests.servers.replies import Reply, text

HELLO = """
name: hello
description: Greets people.
instructions: Greet.
"""
SCRIPT = """
- agent: hello
  answers: [{text: Hello!, usage: {input_tokens: 1000, output_tokens: 10}}]
"""
CONFIG = """
database: {{url: {url}}}
clients:
  anthropic: {{type: anthropic, api_key: "${{KEY:-}}", base_url: "{server}", without_key: offline}}
  offline: {{type: scripted, scripts: [script.yaml]}}
models:
  default: {{client: anthropic, model: {model}{price}}}
"""
USAGE = {"input_tokens": 1, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 100}
PRICE = ", price: {input: 100, output: 200, cache_read: 3, cache_write: 4}"


@pytest.mark.parametrize(
    ("model", "price", "key", "cost"),
    [
        pytest.param(
            *("claude-sonnet-5-5", "", "k", Cost(usd=Decimal("0.000452"))), id="by-the-list"
        ),
        pytest.param(
            *("claude-sonnet-5-5", PRICE, "k", Cost(usd=Decimal("0.0055"))), id="by-the-config"
        ),
        pytest.param(
            *("claude-of-tomorrow", "", "k", Cost(unpriced_requests=1)), id="not-in-the-list"
        ),
        pytest.param(
            *("claude-of-tomorrow", PRICE, "k", Cost(usd=Decimal("0.0055"))), id="in-the-config"
        ),
        pytest.param(
            *("claude-sonnet-5-5", "", "", Cost(unpriced_requests=1)), id="scripts-are-not-billed"
        ),
        pytest.param(
            *("claude-sonnet-5-5", PRICE, "", Cost(usd=Decimal("0.102"))),
            id="scripts-stand-in-at-the-configs-price",
        ),
    ],
)
def test_a_turn_costs_what_the_config_or_else_the_list_says(
    tmp_path: Path, database_url: str, model: str, price: str, key: str, cost: Cost
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hello.yaml").write_text(HELLO)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    reply = Reply(content=[text("Hello!")], usage=USAGE, final_usage={"output_tokens": 10})
    with messages_api([reply]) as server:
        config = CONFIG.format(url=database_url, server=server.url, model=model, price=price)
        (tmp_path / "config.yaml").write_text(config)
        environ = {"KEY": key}
        with Runner(
            tmp_path / "config.yaml", environ=environ, dispatcher=FakeDispatcher()
        ) as runner:
            turn = runner.run("hello", "Hi.")
            stored, costs = runner.turn(turn.id), runner.costs([turn.id])

    assert turn.result == "Hello!"
    assert stored.cost == cost
    assert costs == {turn.id: cost}
