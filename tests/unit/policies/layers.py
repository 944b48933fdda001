"""Layers made of a few rules, and attempts on them."""

from collections.abc import Callable, Mapping

from runner.core.authorization import Action, Attempt
from runner.core.jsonvalue import JsonObject
from runner.definitions.resolved_policy import ResolvedPolicy, ResolvedRule
from runner.policies.layer import Layer


def no_function(reference: str) -> Callable[[Attempt], object]:
    raise LookupError(reference)


def policy(*rules: Mapping[str, object], name: str = "p") -> ResolvedPolicy:
    return ResolvedPolicy(
        name=name,
        source=f"{name}.yaml:1",
        rules=tuple(
            ResolvedRule.model_validate({**rule, "source": f"{name}.yaml:{line}"})
            for line, rule in enumerate(rules, 3)
        ),
    )


def layer(*rules: Mapping[str, object], name: str = "desk") -> Layer:
    return Layer.of(name, [policy(*rules)], function_of=no_function)


def attempt(
    action: Action = Action.TOOL,
    *,
    tool: str | None = "refund",
    arguments: JsonObject | None = None,
    principal: JsonObject | None = None,
    agent: str = "desk",
) -> Attempt:
    return Attempt(
        action=action,
        agent=agent,
        tool=tool,
        arguments=arguments or {},
        principal=principal,
    )
