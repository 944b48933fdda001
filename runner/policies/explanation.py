"""Why an attempt is decided as it is, for people who write policies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.core.authorization import Attempt, Verdict
from runner.policies.attempt_facts import Facts
from runner.policies.decision import decide
from runner.policies.layer import Layer
from runner.policies.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """A rule that applies, or came close: all but one thing that it asks for is so."""

    layer: str
    policy: str
    rule: str
    source: str
    effect: str
    #: The key that is not met, and why; both empty where the rule applies.
    key: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A decision, with the rules that spoke and those that came close."""

    attempt: Attempt
    verdict: Verdict
    #: Whose policies were asked, in order; those without any are left out.
    layers: Sequence[str]
    applying: Sequence[Considered]
    near: Sequence[Considered]


def explain(attempt: Attempt, layers: Sequence[Layer]) -> Explanation:
    """Decide an attempt, and look at every rule of every layer meanwhile."""
    asked = [layer for layer in layers if not layer.is_empty]
    found = list(_considered(Facts(attempt), asked))
    return Explanation(
        attempt=attempt,
        verdict=decide(attempt, layers),
        layers=[layer.name for layer in asked],
        applying=[one for one in found if not one.key],
        near=[one for one in found if one.key],
    )


def _considered(facts: Facts, layers: Sequence[Layer]) -> Iterator[Considered]:
    for layer in layers:
        for rule in layer.rules:
            shortfalls = list(rule.shortfalls(facts))
            if not shortfalls:
                yield _one(layer, rule)
            elif len(shortfalls) == 1:
                yield _one(layer, rule, *shortfalls[0])


def _one(layer: Layer, rule: Rule, key: str = "", why: str = "") -> Considered:
    return Considered(
        layer=layer.name,
        policy=rule.policy,
        rule=rule.name,
        source=rule.source,
        effect=rule.effect.value,
        key=key,
        why=why,
    )
