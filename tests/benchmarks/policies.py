"""
How long a decision takes under a policy of 1,000 rules.

    python -m tests.benchmarks.policies
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import thread_time

from runner.core.authorization import Action, Attempt, Effect
from runner.core.jsonvalue import JsonObject
from runner.definitions.resolved_policy import ResolvedPolicy, ResolvedRule
from runner.policies.decision import decide
from runner.policies.layer import Layer

RULES = 1_000
REPEATS = 2_000

ARGUMENTS: JsonObject = {"amount": 50, "to": "ada@example.org", "note": "For the invoice."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A policy, and an attempt on the last of its rules."""

    name: str
    rule: Callable[[int], Mapping[str, object]]


CASES: Sequence[Case] = (
    Case(
        name="a rule for each tool, with a condition",
        rule=lambda number: {
            "effect": "ask",
            "tools": (f"tool_{number}",),
            "when": "arguments.amount > 100",
        },
    ),
    Case(
        name="a pattern for each group of tools",
        rule=lambda number: {"effect": "deny", "tools": (f"group_{number}_*", f"*_{number}_x")},
    ),
    Case(
        name="all for one tool, by principal",
        rule=lambda number: {
            "effect": "deny",
            "tools": (f"tool_{RULES - 1}",),
            "principals": {"role": (f"role_{number}", f"team_{number}_*")},
        },
    ),
    Case(
        name="all for one tool, by argument",
        rule=lambda number: {
            "effect": "deny",
            "tools": (f"tool_{RULES - 1}",),
            "arguments": {"to": (f"*@{number}.example.org",)},
        },
    ),
    Case(
        name="all for one tool, each with a condition",
        rule=lambda number: {
            "effect": "deny",
            "tools": (f"tool_{RULES - 1}",),
            "when": f"arguments.amount > {100 + number}",
        },
    ),
)


def layer_of(case: Case) -> Layer:
    rules = (case.rule(number) for number in range(RULES))
    policy = ResolvedPolicy(
        name="large",
        source="large.yaml:1",
        rules=tuple(
            ResolvedRule.model_validate({**rule, "source": f"large.yaml:{line}"})
            for line, rule in enumerate(rules, 3)
        ),
    )
    return Layer.of("desk", [policy], function_of=_no_function)


def _no_function(reference: str) -> Callable[[Attempt], object]:
    raise LookupError(reference)


def attempt(tool: str = f"tool_{RULES - 1}") -> Attempt:
    return Attempt(
        action=Action.TOOL,
        agent="desk",
        tool=tool,
        arguments=ARGUMENTS,
        principal={"role": "support", "name": "Ada"},
    )


def timings(case: Case, *, repeats: int, is_first: bool) -> Iterator[float]:
    """Yield how many microseconds decisions take: each the first of its kind, or all of one."""
    layer = layer_of(case)
    decide(attempt(), [layer])
    for number in range(repeats):
        tried = attempt(f"other_{number}") if is_first else attempt()
        since = thread_time()
        verdict = decide(tried, [layer])
        yield (thread_time() - since) * 1e6
        if verdict.effect is not Effect.ALLOW:
            raise AssertionError(verdict)


def report(*, repeats: int = REPEATS) -> Iterator[str]:
    """Yield a line for each case."""
    yield f"{'microseconds of processor time':<42}{'median':>8}{'p99':>8}{'first':>8}"
    for case in CASES:
        known = list(timings(case, repeats=repeats, is_first=False))
        first = list(timings(case, repeats=max(repeats // 10, 2), is_first=True))
        late = quantiles(known, n=100)[-1]
        yield f"{case.name:<42}{median(known):>8.1f}{late:>8.1f}{median(first):>8.1f}"


def main() -> None:
    """Print the report."""
    for line in report():
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
