"""What the config says of prices."""

from decimal import Decimal
from pathlib import Path

import pytest

from runner.definitions.codes import Code
from runner.definitions.models import prices_of
from runner.definitions.price import Price
from tests.unit.definitions.projects import configured, only, told

ALIAS = "models: {mine: {client: anthropic, model: claude-x, price: {%s}}}\n"
CHEAP, DEAR = "{input: 1, output: 2}", "{input: 3, output: 4}"


def usd(price: str) -> Price:
    first, second = {CHEAP: (1, 2), DEAR: (3, 4)}[price]
    return Price(input=Decimal(first), output=Decimal(second))


def test_a_price_is_read_to_the_last_digit(tmp_path: Path) -> None:
    text = "input: 3, output: 0.1, cache_read: 99999.123456, cache_write: 1e-6"

    loaded = configured(tmp_path, ALIAS % text)

    assert loaded.problems == ()
    assert loaded.config.models["mine"].price == Price(
        input=Decimal(3),
        output=Decimal("0.1"),
        cache_read=Decimal("99999.123456"),
        cache_write=Decimal("0.000001"),
    )


def test_a_price_may_come_from_a_variable(tmp_path: Path) -> None:
    text = """
models:
  mine:
    client: anthropic
    model: claude-x
    price:
      input: ${IN:-0.25}
      output: ${OUT}
"""

    loaded = configured(tmp_path, text, {"OUT": "2"})

    assert loaded.config.models["mine"].price == Price(input=Decimal("0.25"), output=Decimal(2))


def test_the_config_in_force_has_prices_as_numbers(tmp_path: Path) -> None:
    loaded = configured(tmp_path, ALIAS % "input: 0.3, output: 15")

    models = loaded.resolved()["models"]
    assert isinstance(models, dict)
    mine = models["mine"]
    assert isinstance(mine, dict)
    assert mine["price"] == {"input": 0.3, "output": 15.0}


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        pytest.param("input: 1", Code.MISSING_KEY, "the key 'output' is missing", id="half"),
        pytest.param("input: a, output: 1", Code.WRONG_TYPE, "expected a number", id="a-text"),
        pytest.param("input: true, output: 1", Code.WRONG_TYPE, "expected a number", id="a-truth"),
        pytest.param("input: [1], output: 1", Code.WRONG_TYPE, "expected a number", id="a-list"),
        pytest.param("input: -1, output: 1", Code.BAD_VALUE, "expected at least 0", id="a-gift"),
        pytest.param(
            "input: 1, output: 100001", Code.BAD_VALUE, "expected at most 100000", id="a-ransom"
        ),
        pytest.param(
            "input: 1, output: 0.0000001",
            Code.BAD_VALUE,
            "expected at most 6 digits after the point",
            id="finer-than-anything-is-told-apart",
        ),
        pytest.param("input: 1, outputs: 1", Code.UNKNOWN_KEY, "unknown key 'outputs'", id="typo"),
    ],
)
def test_a_wrong_price_is_a_problem(tmp_path: Path, text: str, code: Code, message: str) -> None:
    problem = configured(tmp_path, ALIAS % text).problems[0]

    assert (problem.code, problem.message) == (code, message)


def test_a_model_has_one_price_under_all_its_aliases(tmp_path: Path) -> None:
    models = [
        f"  one: {{client: anthropic, model: claude-x, price: {CHEAP}}}",
        f"  same: {{client: anthropic, model: claude-x, price: {CHEAP}}}",
        "  silent: {client: anthropic, model: claude-x}",
        f"  elsewhere: {{client: offline, model: claude-x, price: {DEAR}}}",
        f"  other: {{client: anthropic, model: claude-x, price: {DEAR}}}",
    ]

    problem = only(configured(tmp_path, "\n".join(["models:", *models, ""])).problems)

    assert told((problem,)) == ["config.yaml:6:54 bad-value"]
    assert problem.message == "the same model has another price as models.one"


def test_prices_are_those_of_the_clients_models(tmp_path: Path) -> None:
    text = f"models: {{mine: {{client: anthropic, model: claude-x, price: {CHEAP}}}}}\n"

    config = configured(tmp_path, text, {"ANTHROPIC_API_KEY": "k"}).config

    assert prices_of("anthropic", config) == {"claude-x": usd(CHEAP)}
    assert prices_of("offline", config) == {}


def test_a_client_that_stands_in_has_the_prices_of_the_other_but_its_own_first(
    tmp_path: Path,
) -> None:
    models = [
        f"  x: {{client: anthropic, model: claude-x, price: {CHEAP}}}",
        f"  own_x: {{client: offline, model: claude-x, price: {DEAR}}}",
        f"  y: {{client: anthropic, model: claude-y, price: {CHEAP}}}",
        "  z: {client: anthropic, model: claude-z}",
    ]

    config = configured(tmp_path, "\n".join(["models:", *models, ""])).config

    assert prices_of("offline", config) == {"claude-x": usd(DEAR), "claude-y": usd(CHEAP)}
