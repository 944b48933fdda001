"""Policies as a snapshot keeps them: whole, with the place of every rule."""

from collections.abc import Iterable, Iterator, Mapping

from runner.definitions.base import Items, StrictModel
from runner.definitions.policy import PolicyDefinition, PolicyRule, PythonPolicy, RulesPolicy
from runner.definitions.scalars import Name


class ResolvedRule(PolicyRule):
    """A rule that needs no other file."""

    #: Where it stands, as `file:line`.
    source: str


class ResolvedPolicy(StrictModel):
    """A policy that needs no other file: rules, or the name of a function."""

    name: Name
    #: Where it stands, as `file:line`.
    source: str
    rules: Items[ResolvedRule] = ()
    python: str | None = None


def resolve_policies(
    entries: Iterable[str | PolicyDefinition], known: Mapping[str, PolicyDefinition]
) -> tuple[ResolvedPolicy, ...]:
    """
    Put the policies that an agent or the config lists into one value.

    Raises:
        KeyError: One that is named has a problem, or does not exist.
    """
    return tuple(_resolved(known[one] if isinstance(one, str) else one) for one in entries)


def _resolved(policy: PolicyDefinition) -> ResolvedPolicy:
    match policy:
        case RulesPolicy():
            return ResolvedPolicy(
                name=policy.name, source=policy.written_at, rules=tuple(_rules(policy.rules))
            )
        case PythonPolicy():
            return ResolvedPolicy(name=policy.name, source=policy.written_at, python=policy.python)


def _rules(rules: Iterable[PolicyRule]) -> Iterator[ResolvedRule]:
    for rule in rules:
        yield ResolvedRule.model_validate({**dict(rule), "source": rule.written_at})
