import asyncio
from collections.abc import Callable

import pytest

from runner.core.authorization import Attempt, Effect
from runner.definitions.resolved_policy import ResolvedPolicy
from runner.policies.attempt_facts import Facts
from runner.policies.layer import Layer
from tests.unit.policies.layers import attempt, no_function, policy

OFFICE = ResolvedPolicy(name="office", source="office.yaml:1", python="rules:office")


def decided(function: Callable[[Attempt], object], *also: ResolvedPolicy) -> Effect | None:
    layer = Layer.of("desk", [OFFICE, *also], function_of=lambda _: function)
    verdict = layer.decide(Facts(attempt()))
    return verdict.effect if verdict else None


async def agree_later(_: Attempt) -> bool:
    await asyncio.sleep(0)
    return True


def fail(_: Attempt) -> bool:
    raise ValueError


def leave(_: Attempt) -> bool:
    raise SystemExit(0)


def run_away(_: Attempt) -> bool:
    raise GeneratorExit


@pytest.mark.parametrize(
    "function",
    [
        lambda _: False,
        lambda _: None,
        lambda _: 1,
        lambda _: "True",
        lambda _: [True],
        lambda _: lambda: True,
        fail,
        leave,
        run_away,
        agree_later,
    ],
)
def test_whatever_is_not_true_itself_denies(function: Callable[[Attempt], object]) -> None:
    assert decided(function) is Effect.DENY


def test_what_a_function_agrees_with_is_for_the_rules_to_decide() -> None:
    listing = policy({"effect": "allow", "tools": ["mail"]})

    assert decided(lambda _: True) is None
    assert decided(lambda _: True, policy({"effect": "ask"})) is Effect.ASK
    assert decided(lambda _: True, listing) is Effect.DENY
    assert decided(lambda _: False, policy({"effect": "allow"})) is Effect.DENY


def test_a_function_that_is_not_there_denies_and_says_so() -> None:
    layer = Layer.of("desk", [OFFICE], function_of=no_function)

    verdict = layer.decide(Facts(attempt()))

    assert verdict is not None
    assert verdict.reason == "policy 'office' failed with LookupError"
    assert (verdict.policy, verdict.source, verdict.layer) == ("office", "office.yaml:1", "desk")


def test_a_function_cannot_change_what_is_attempted() -> None:
    tried = attempt(arguments={"amount": 5, "to": ["a"]})

    def meddle(given: Attempt) -> bool:
        arguments = given.arguments
        assert isinstance(arguments, dict)
        arguments["amount"] = 500
        arguments["to"].append("b")
        return True

    Layer.of("desk", [OFFICE], function_of=lambda _: meddle).decide(Facts(tried))

    assert tried.arguments == {"amount": 5, "to": ["a"]}
