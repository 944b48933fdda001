"""Rules of one policy that others leave no room for."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runner.definitions.glob import covers
from runner.definitions.policy import JsonScalar, PolicyRule

_STRICTNESS: Final = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A rule that never decides, and the rule that does in its place, by their indexes."""

    rule: int
    by: int
    #: Whether both apply to the very same, and one denies what the other allows.
    is_contradiction: bool


def overlaps(rules: Sequence[PolicyRule]) -> Iterator[Overlap]:
    """Find the rules that never decide, each with one rule that does in its place."""
    by_tool: dict[str | None, list[int]] = defaultdict(list)
    for index, rule in enumerate(rules):
        for tool in _keys(rule):
            by_tool[tool].append(index)
    for index, rule in enumerate(rules):
        # Only what speaks of all the rule's tools, one of which is as good as any, can cover it.
        candidates = sorted({*by_tool[None], *by_tool[_keys(rule)[0]]} - {index})
        for other in candidates:
            if _decides_first(rules, other, index) and _covers(rules[other], rule):
                opposite = {rule.effect, rules[other].effect} == {"allow", "deny"}
                yield Overlap(
                    rule=index,
                    by=other,
                    is_contradiction=opposite and _covers(rule, rules[other]),
                )
                break


def _keys(rule: PolicyRule) -> tuple[str | None, ...]:
    """The tools a rule names, with None for all that are not exactly one."""
    if rule.tools is None:
        return (None,)
    return tuple(dict.fromkeys(None if "*" in tool else tool for tool in rule.tools))


def _decides_first(rules: Sequence[PolicyRule], one: int, other: int) -> bool:
    strictness, least = _STRICTNESS[rules[one].effect], _STRICTNESS[rules[other].effect]
    return strictness > least or (strictness == least and one < other)


def _covers(wider: PolicyRule, narrower: PolicyRule) -> bool:
    return (
        wider.when in {None, narrower.when}
        and _covers_keys(wider, narrower)
        and _covers_actions(wider, narrower)
        and _covers_texts(wider.tools, narrower.tools)
        and _covers_texts(wider.agents, narrower.agents)
        and _covers_choices(wider.principals, narrower.principals)
        and _covers_choices(wider.arguments, narrower.arguments)
    )


def _covers_keys(wider: PolicyRule, narrower: PolicyRule) -> bool:
    """Whether a rule asks for nothing that another does not, which is told before all else."""
    return (
        (wider.agents is None or narrower.agents is not None)
        and (wider.principals is None or narrower.principals is not None)
        and (wider.arguments is None or narrower.arguments is not None)
    )


def _covers_actions(wider: PolicyRule, narrower: PolicyRule) -> bool:
    if wider.effect == "ask" and wider.actions is None and "approve" in (narrower.actions or ()):
        return False
    return _covers_texts(wider.actions, narrower.actions)


def _covers_texts(wider: Sequence[str] | None, narrower: Sequence[str] | None) -> bool:
    if wider is None or wider == narrower:
        return True
    return narrower is not None and all(any(covers(w, n) for w in wider) for n in narrower)


def _covers_choices(
    wider: Mapping[str, Sequence[JsonScalar]] | None,
    narrower: Mapping[str, Sequence[JsonScalar]] | None,
) -> bool:
    if wider is None:
        return True
    known = narrower or {}
    return all(
        key in known and all(any(_covers_value(w, n) for w in choices) for n in known[key])
        for key, choices in wider.items()
    )


def _covers_value(wider: JsonScalar, narrower: JsonScalar) -> bool:
    if wider == "*":
        return True
    if isinstance(wider, str) and isinstance(narrower, str):
        return covers(wider, narrower)
    return isinstance(wider, bool) == isinstance(narrower, bool) and wider == narrower
