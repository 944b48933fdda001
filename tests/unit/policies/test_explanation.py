from runner.core.authorization import Action, Effect
from runner.core.jsonvalue import JsonObject
from runner.policies.explanation import Considered, explain
from tests.unit.policies.layers import attempt, layer

RULES = layer(
    {"effect": "deny", "tools": ["mail_*"]},
    {"effect": "ask", "name": "large", "tools": ["refund"], "when": "arguments.amount > 100.0"},
    {"effect": "allow", "actions": ["tool"], "principals": {"role": ("admin", "lead")}},
    {"effect": "allow", "actions": ["tool"], "arguments": {"amount": (5,)}},
    {"effect": "deny", "actions": ["wait"], "tools": ["mail"]},
    {"effect": "deny", "actions": ["wait"]},
    name="support",
)


def near(principal: JsonObject | None = None) -> dict[str, tuple[str, str]]:
    tried = attempt(arguments={"amount": 5}, principal=principal)
    return {one.rule: (one.key, one.why) for one in explain(tried, [layer(), RULES]).near}


def test_an_explanation_has_the_rules_that_apply() -> None:
    found = explain(attempt(arguments={"amount": 5}), [layer(), RULES])

    assert found.layers == ["support"]
    assert found.applying == [
        Considered(layer="support", policy="p", rule="rule 4", source="p.yaml:6", effect="allow")
    ]
    assert found.verdict.effect is Effect.ALLOW


def test_a_rule_of_which_one_thing_is_not_so_came_close() -> None:
    assert near() == {
        "rule 1": ("tools", "it is 'refund', and the rule wants 'mail_*'"),
        "large": ("when", "'arguments.amount > 100.0' does not hold"),
        "rule 3": ("principals.role", "there is none, and the rule wants 'admin' or 'lead'"),
        "rule 6": ("actions", "it is 'tool', and the rule is for wait"),
    }
    assert near(principal={"role": "cook"})["rule 3"] == (
        "principals.role",
        "it is 'cook', and the rule wants 'admin' or 'lead'",
    )


def test_a_condition_that_cannot_be_told_came_close() -> None:
    found = explain(attempt(), [RULES])

    (large,) = (one for one in found.near if one.rule == "large")
    assert large.why == 'it cannot be told: there is no "amount"'
    assert found.verdict.effect is Effect.DENY


def test_an_attempt_without_a_tool_falls_short_of_rules_for_tools() -> None:
    found = explain(attempt(Action.WAIT, tool=None), [RULES])

    assert ("tools", "there is none, and the rule wants 'mail'") in [
        (one.key, one.why) for one in found.near
    ]
