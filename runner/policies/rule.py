"""Rules, compiled: each is a list of conditions that all have to be met."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, TypeAlias

from runner.core.authorization import Action, Attempt, Effect
from runner.core.errors import ConditionFailed
from runner.definitions.condition import Condition, compiled
from runner.definitions.policy import JsonScalar
from runner.definitions.resolved_policy import ResolvedPolicy, ResolvedRule
from runner.policies.attempt_facts import Facts
from runner.policies.choices import Choices

_ABSENT: Final = object()

#: Reads from an attempt what a rule looks at.
Reader: TypeAlias = Callable[[Attempt], object]


class Requirement(Protocol):
    """One thing that a rule asks for."""

    @property
    def key(self) -> str:
        """The key of the rule that says it, such as `tools` or `arguments.amount`."""
        ...

    def is_met(self, facts: Facts) -> bool:
        """
        Say whether an attempt is like that.

        Raises:
            ConditionFailed: It cannot be told.
        """
        ...

    def shortfall(self, facts: Facts) -> str:
        """Say why an attempt is not like that, where it is not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """What is found in an attempt has to be one of some values."""

    key: str
    read: Reader
    choices: Choices
    #: As they are written.
    written: tuple[JsonScalar, ...]
    #: Whether of a list all items have to be.
    every: bool = False

    def is_met(self, facts: Facts) -> bool:
        value = self.read(facts.attempt)
        return value is not _ABSENT and self.choices.accept(value, every=self.every)

    def shortfall(self, facts: Facts) -> str:
        value = self.read(facts.attempt)
        wanted = " or ".join(repr(one) for one in self.written[:5])
        found = "there is none" if value is _ABSENT or value is None else f"it is {value!r}"
        return f"{found}, and the rule wants {wanted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A condition has to hold."""

    condition: Condition
    written: str
    key: str = "when"

    def is_met(self, facts: Facts) -> bool:
        return self.condition.holds(facts.inputs)

    def shortfall(self, facts: Facts) -> str:  # noqa: ARG002 - as every requirement has it
        return f"{self.written.strip()!r} does not hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a policy."""

    effect: Effect
    policy: str
    name: str
    #: Where it stands, as `file:line`.
    source: str
    reason: str
    expires: timedelta | None
    actions: frozenset[Action]
    #: The tools it is for, where each is named in full; else None.
    tools: frozenset[str] | None
    #: What does not depend on arguments or people, so that it is told once for many attempts.
    fixed: tuple[Requirement, ...]
    #: What is told anew for each attempt, the cheap first.
    varying: tuple[Requirement, ...]

    def is_for(self, facts: Facts) -> bool:
        """Say whether the rule is for such actions, agents and tools at all."""
        return facts.attempt.action in self.actions and _all_met(self.fixed, facts)

    def applies(self, facts: Facts) -> bool:
        """
        Say whether the rest of the rule is met, for an attempt that it is for.

        Raises:
            ConditionFailed: It cannot be told.
        """
        return _all_met(self.varying, facts)

    def shortfalls(self, facts: Facts) -> Iterator[tuple[str, str]]:
        """Yield every key that is not met, with why."""
        if facts.attempt.action not in self.actions:
            wanted = ", ".join(sorted(self.actions))
            yield "actions", f"it is {facts.attempt.action.value!r}, and the rule is for {wanted}"
        for one in (*self.fixed, *self.varying):
            try:
                if not one.is_met(facts):
                    yield one.key, one.shortfall(facts)
            except ConditionFailed as failed:
                yield one.key, f"it cannot be told: {failed}"


def _all_met(requirements: tuple[Requirement, ...], facts: Facts) -> bool:
    for one in requirements:  # noqa: SIM110 - asked for a thousand times, and a loop is quicker
        if not one.is_met(facts):
            return False
    return True


def rules_of(policy: ResolvedPolicy) -> Iterator[Rule]:
    """
    Compile a policy's rules.

    Raises:
        BadCondition: A condition is not one.
    """
    for number, rule in enumerate(policy.rules, 1):
        yield Rule(
            effect=Effect(rule.effect),
            policy=policy.name,
            name=rule.name or f"rule {number}",
            source=rule.source,
            reason=rule.reason,
            expires=rule.expires,
            actions=_actions(rule),
            tools=_named(rule.tools),
            fixed=tuple(_fixed(rule)),
            varying=tuple(_varying(rule)),
        )


def _actions(rule: ResolvedRule) -> frozenset[Action]:
    if rule.actions:
        return frozenset(Action(word) for word in rule.actions)
    # Nobody else can be asked whether somebody may answer: such a rule would refuse every answer
    # to its own question.
    return frozenset(Action) - ({Action.APPROVE} if rule.effect == "ask" else set())


def _named(tools: tuple[str, ...] | None) -> frozenset[str] | None:
    is_named = tools is not None and not any("*" in tool for tool in tools)
    return frozenset(tools or ()) if is_named else None


def _fixed(rule: ResolvedRule) -> Iterator[Requirement]:
    if rule.agents is not None:
        yield _among("agents", lambda attempt: attempt.agent, rule.agents)
    if rule.tools is not None:
        yield _among("tools", _tool, rule.tools)


def _varying(rule: ResolvedRule) -> Iterator[Requirement]:
    for key, values in (rule.principals or {}).items():
        yield _among(f"principals.{key}", _principal(key), values)
    # To allow something is to allow all of it; to deny it, a part of it is enough.
    every = rule.effect == "allow"
    for key, values in (rule.arguments or {}).items():
        yield _among(f"arguments.{key}", _argument(key), values, every=every)
    if rule.when is not None:
        yield When(condition=compiled(rule.when), written=rule.when)


def _among(key: str, read: Reader, values: tuple[JsonScalar, ...], *, every: bool = False) -> Among:
    return Among(key=key, read=read, choices=Choices.of(values), written=values, every=every)


def _tool(attempt: Attempt) -> object:
    return _ABSENT if attempt.tool is None else attempt.tool


def _principal(key: str) -> Reader:
    def read(attempt: Attempt) -> object:
        principal = attempt.principal
        return principal.get(key, _ABSENT) if principal else _ABSENT

    return read


def _argument(key: str) -> Reader:
    return lambda attempt: attempt.arguments.get(key, _ABSENT)
