"""A layer: the policies of the operator, or of one agent."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, TypeAlias

from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.errors import ConditionFailed
from runner.definitions.resolved_policy import ResolvedPolicy
from runner.policies.attempt_facts import Facts
from runner.policies.function import FunctionOf, FunctionPolicy
from runner.policies.rule import Rule, rules_of

#: The layer of the policies that the config lists.
OPERATOR: Final = "operator"

_ORDER: Final = (Effect.DENY, Effect.ASK, Effect.ALLOW)

#: How many kinds of attempts, by action, agent and tool, a layer knows its rules for by heart.
_REMEMBERED: Final = 1_024


#: A rule with its place among those of its layer, the strictest first.
_Placed: TypeAlias = tuple[int, Rule]


class Layer:
    """Compiled policies that are in force together. One layer serves many threads."""

    def __init__(
        self, name: str, rules: Iterable[Rule], functions: Iterable[FunctionPolicy] = ()
    ) -> None:
        self.name: Final = name
        self.rules: Final = tuple(rules)
        self.functions: Final = tuple(functions)
        #: The actions for which what no rule allows is denied.
        self.listed: Final = frozenset(
            action for rule in self.rules if rule.effect is Effect.ALLOW for action in rule.actions
        )
        self._index: Final = _index(self.rules)
        self._remembered: Final = lru_cache(maxsize=_REMEMBERED)(self._find)

    @classmethod
    def of(
        cls, name: str, policies: Sequence[ResolvedPolicy], *, function_of: FunctionOf
    ) -> "Layer":
        """
        Compile some policies.

        Raises:
            BadCondition: A condition is not one.
        """
        functions = (
            FunctionPolicy(
                policy=policy.name,
                reference=policy.python,
                source=policy.source,
                function_of=function_of,
            )
            for policy in policies
            if policy.python is not None
        )
        return cls(name, (rule for policy in policies for rule in rules_of(policy)), functions)

    @property
    def is_empty(self) -> bool:
        return not self.rules and not self.functions

    def decide(self, facts: Facts) -> Verdict | None:
        """Say what the layer says to an attempt; None where it says nothing."""
        chosen = self._first(facts)
        if chosen is not None and chosen.effect is Effect.DENY:
            return chosen
        for function in self.functions:
            objection = function.objection(facts.attempt)
            if objection is not None:
                return Verdict(
                    effect=Effect.DENY,
                    reason=objection,
                    policy=function.policy,
                    source=function.source,
                    layer=self.name,
                )
        if chosen is None and facts.attempt.action in self.listed:
            reason = f"no rule of {self.name!r} allows it"
            return Verdict(effect=Effect.DENY, reason=reason, layer=self.name)
        return chosen

    def _first(self, facts: Facts) -> Verdict | None:
        """The strictest rule that applies; one of which that cannot be told denies."""
        chosen: Verdict | None = None
        for rule in self._candidates(facts):
            try:
                applies = rule.applies(facts)
            except ConditionFailed as failed:
                return self._failed(rule, failed)
            if applies and chosen is None:
                chosen = self._said(rule)
                if rule.effect is Effect.DENY:
                    break
        return chosen

    def _candidates(self, facts: Facts) -> Sequence[Rule]:
        attempt = facts.attempt
        return self._remembered(attempt.action, attempt.agent, attempt.tool)

    def _find(self, action: Action, agent: str, tool: str | None) -> Sequence[Rule]:
        """The rules for such attempts, the strictest first."""
        facts = Facts(Attempt(action=action, agent=agent, tool=tool))
        found = [*self._index.get((action, None), ()), *self._index.get((action, tool or ""), ())]
        return [rule for _, rule in sorted(found, key=_place) if rule.is_for(facts)]

    def _said(self, rule: Rule) -> Verdict:
        return Verdict(
            effect=rule.effect,
            reason=rule.reason or _reason(rule),
            policy=rule.policy,
            rule=rule.name,
            source=rule.source,
            layer=self.name,
            expires=rule.expires,
        )

    def _failed(self, rule: Rule, failed: ConditionFailed) -> Verdict:
        return Verdict(
            effect=Effect.DENY,
            reason=f"the condition of {rule.name!r} of policy {rule.policy!r} failed: {failed}",
            policy=rule.policy,
            rule=rule.name,
            source=rule.source,
            layer=self.name,
        )


def _index(rules: Iterable[Rule]) -> Mapping[tuple[Action, str | None], Sequence[_Placed]]:
    """The rules by their actions and the tools they name, or None, each with its place in order."""
    found: dict[tuple[Action, str | None], list[_Placed]] = defaultdict(list)
    ordered = sorted(rules, key=lambda rule: _ORDER.index(rule.effect))
    for placed in enumerate(ordered):
        _, rule = placed
        tools: Iterable[str | None] = [None] if rule.tools is None else rule.tools
        for action, tool in product(rule.actions, tools):
            found[action, tool].append(placed)
    return dict(found)


def _place(placed: _Placed) -> int:
    return placed[0]


def _reason(rule: Rule) -> str:
    match rule.effect:
        case Effect.DENY:
            return f"policy {rule.policy!r} denies it"
        case Effect.ASK:
            return f"policy {rule.policy!r} wants a person asked"
        case Effect.ALLOW:
            return f"policy {rule.policy!r} allows it"
