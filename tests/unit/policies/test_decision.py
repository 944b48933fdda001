from itertools import product

import pytest

from runner.core.authorization import ALLOWED, Action, Effect
from runner.policies.decision import decide
from tests.unit.policies.layers import attempt, layer

STRICTNESS = [None, "allow", "ask", "deny"]
LAYERS = ("operator", "ancestor", "own")


def rules(word: str | None, action: Action) -> list[dict[str, object]]:
    return [{"effect": word, "actions": (action.value,)}] if word else []


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("words", list(product(STRICTNESS, repeat=3)))
def test_the_strictest_layer_decides_on_every_action(
    words: tuple[str | None, ...], action: Action
) -> None:
    layers = [
        layer(*rules(word, action), name=name) for name, word in zip(LAYERS, words, strict=True)
    ]
    strictest = max(words, key=STRICTNESS.index)

    verdict = decide(attempt(action, tool=None), layers)

    assert verdict.effect is Effect(strictest or "allow")
    if strictest is not None:
        assert verdict.layer == LAYERS[words.index(strictest)]


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("word", ["ask", "deny"])
def test_a_rule_for_one_action_says_nothing_to_another(word: str, action: Action) -> None:
    others = tuple(other.value for other in Action if other is not action)

    verdict = decide(attempt(action), [layer({"effect": word, "actions": others})])

    assert verdict.effect is Effect.ALLOW


def test_without_policies_all_is_allowed() -> None:
    assert decide(attempt(), [layer(), layer()]) is ALLOWED
    assert decide(attempt(), []) is ALLOWED


def test_policies_that_say_nothing_allow_and_are_told_from_no_policies() -> None:
    silent = layer({"effect": "deny", "tools": ["mail"]}, name="silent")

    verdict = decide(attempt(), [silent, layer()])

    assert verdict != ALLOWED
    assert (verdict.effect, verdict.layer, verdict.rule) == (Effect.ALLOW, "silent", None)


def test_nobody_below_lifts_what_was_said_above() -> None:
    above = layer({"effect": "allow", "tools": ["read"]}, name="operator")
    below = layer({"effect": "allow", "tools": ["*"]})

    verdict = decide(attempt(tool="refund"), [above, below])

    assert (verdict.effect, verdict.layer) == (Effect.DENY, "operator")
