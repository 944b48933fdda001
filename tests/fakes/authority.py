"""Policies made in code."""

from collections.abc import Callable, Mapping
from threading import Lock

from runner.core.authorization import (
    Action,
    Attempt,
    Effect,
    Lineage,
    Verdict,
    strictest,
)

#: What a layer says to an attempt; None where it is silent.
Rule = Callable[[Attempt], Verdict | None]


class FakeAuthority:
    """
    Says of each attempt what its layers' rules say, the strictest of all.

    A layer is the operator's or that of an agent, by its name; it applies to turns whose lineage
    has that agent. Rules may be changed at any time.
    """

    def __init__(self, layers: Mapping[str, Rule] | None = None) -> None:
        self.layers = dict[str, Rule](layers or {})
        self._lock = Lock()
        #: Everything that was asked, with the names of the lineage.
        self.asked = list[tuple[Attempt, tuple[str, ...]]]()

    def decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        names = tuple(each.name for each in lineage)
        with self._lock:
            self.asked.append((attempt, names))
        said = (self.layers[each](attempt) for each in ("operator", *names) if each in self.layers)
        return strictest(verdict for verdict in said if verdict is not None)

    def say(self, effect: Effect, **about: str) -> None:
        """Let the operator say *effect* to whatever has these values, and nothing to the rest."""
        self.layers["operator"] = saying(effect, **about)


def saying(effect: Effect, layer: str = "operator", **about: str) -> Rule:
    """Say *effect* to each attempt that has these values; on answers only if they are named."""
    verdict = Verdict(
        effect=effect,
        reason=f"{layer} says {effect.value}",
        policy=f"{layer}-policy",
        rule="rule 1",
        source="policies.yaml:3",
        layer=layer,
    )

    def rule(attempt: Attempt) -> Verdict | None:
        if attempt.action is Action.APPROVE and "action" not in about:
            return None
        fits = all(str(getattr(attempt, name)) == value for name, value in about.items())
        return verdict if fits else None

    return rule
