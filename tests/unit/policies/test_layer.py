from collections.abc import Mapping
from datetime import timedelta

import pytest

from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.jsonvalue import JsonObject
from runner.policies.attempt_facts import Facts
from runner.policies.layer import Layer
from tests.unit.policies.layers import attempt, layer, policy

DENY, ASK, ALLOW = ({"effect": word} for word in ("deny", "ask", "allow"))
BROKEN = "arguments.missing > 1"


def said(rules: Layer, tried: Attempt | None = None) -> Verdict | None:
    return rules.decide(Facts(tried or attempt()))


def effect(rules: Layer, tried: Attempt | None = None) -> Effect | None:
    verdict = said(rules, tried)
    return verdict.effect if verdict else None


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param([], None, id="nothing says nothing"),
        pytest.param([DENY, ASK, ALLOW], Effect.DENY, id="deny beats all"),
        pytest.param([ALLOW, ASK, DENY], Effect.DENY, id="in whatever order"),
        pytest.param([ALLOW, ASK], Effect.ASK, id="ask beats allow"),
        pytest.param([ALLOW], Effect.ALLOW, id="allow allows"),
        pytest.param([{**DENY, "tools": ["mail"]}], None, id="other tools may be denied"),
        pytest.param([{**ALLOW, "tools": ["mail"]}], Effect.DENY, id="what is not listed is not"),
        pytest.param([{**ALLOW, "actions": ["wait"]}], None, id="a list is one of its action"),
        pytest.param(
            [{**ALLOW, "tools": ["mail"]}, {**ASK, "tools": ["refund"]}],
            Effect.ASK,
            id="asking is more than not listing",
        ),
    ],
)
def test_the_strictest_rule_of_a_layer_decides(
    rules: list[Mapping[str, object]], expected: Effect | None
) -> None:
    assert effect(layer(*rules)) is expected


@pytest.mark.parametrize(
    ("rule", "arguments", "principal", "applies"),
    [
        ({"tools": ["re*", "x"]}, {}, None, True),
        ({"agents": ["d*k"]}, {}, None, True),
        ({"agents": ["other"]}, {}, None, False),
        ({"principals": {"role": ("admin", "support")}}, {}, {"role": "support"}, True),
        ({"principals": {"role": ("admin",)}}, {}, {"role": ["x", "admin"]}, True),
        ({"principals": {"role": ("admin",)}}, {}, {"role": []}, False),
        ({"principals": {"role": ("admin",)}}, {}, {}, False),
        ({"principals": {"role": ("admin",)}}, {}, None, False),
        ({"principals": {"role": ("*",)}}, {}, {"role": None}, True),
        ({"principals": {"role": ("*",)}}, {}, {"name": "x"}, False),
        ({"principals": {"a": ("x",), "b": (1,)}}, {}, {"a": "x", "b": 1}, True),
        ({"principals": {"a": ("x",), "b": (1,)}}, {}, {"a": "x", "b": "1"}, False),
        ({"arguments": {"to": ("*@example.org",)}}, {"to": "ada@example.org"}, None, True),
        ({"arguments": {"to": ("*@example.org",)}}, {"to": "ada@example.org.evil"}, None, False),
        ({"arguments": {"n": (1,)}}, {"n": 1.0}, None, True),
        ({"arguments": {"n": (1,)}}, {"n": True}, None, False),
        ({"arguments": {"n": (True,)}}, {"n": 1}, None, False),
        ({"arguments": {"n": ("1",)}}, {"n": 1}, None, False),
        ({"arguments": {"n": ("x",)}}, {"n": {"x": 1}}, None, False),
        ({"arguments": {"n": (0,)}}, {"n": None}, None, False),
        ({"when": "agent == 'desk' && tool == 'refund' && action == 'tool'"}, {}, None, True),
        ({"when": "principal == {} && turn == {} && conversation == context"}, {}, None, True),
        ({"when": "has(arguments.x)"}, {}, None, False),
    ],
)
def test_a_rule_applies_where_all_that_it_says_is_so(
    rule: Mapping[str, object],
    arguments: JsonObject,
    principal: JsonObject | None,
    *,
    applies: bool,
) -> None:
    tried = attempt(arguments=arguments, principal=principal)

    assert (effect(layer({**DENY, **rule}), tried) is Effect.DENY) is applies


@pytest.mark.parametrize(
    ("word", "to", "expected"),
    [
        ("deny", ["a@ours", "b@theirs"], Effect.DENY),
        ("ask", ["a@ours", "b@theirs"], Effect.ASK),
        ("allow", ["a@ours", "b@theirs"], Effect.DENY),
        ("allow", ["a@ours", "b@ours"], Effect.ALLOW),
        ("allow", [], Effect.DENY),
        ("deny", [], None),
    ],
)
def test_of_a_list_a_part_is_enough_to_deny_and_all_of_it_is_needed_to_allow(
    word: str, to: list[str], expected: Effect | None
) -> None:
    rules = layer({"effect": word, "arguments": {"to": ("*@ours",)}})

    assert effect(rules, attempt(arguments={"to": to})) is expected


def test_a_rule_for_tools_does_not_apply_where_there_is_none() -> None:
    rules = layer({**DENY, "tools": ["*"]})

    assert effect(rules, attempt(Action.CANCEL, tool=None)) is None


@pytest.mark.parametrize("word", ["deny", "ask", "allow"])
@pytest.mark.parametrize("other", [None, "deny", "ask", "allow"])
def test_a_condition_that_cannot_be_told_denies(word: str, other: str | None) -> None:
    broken = {"effect": word, "when": BROKEN}
    rules = layer(broken, {"effect": other}) if other else layer(broken)

    assert effect(rules) is Effect.DENY


def test_a_rule_that_denies_is_told_before_a_condition_that_fails() -> None:
    verdict = said(layer({**ASK, "when": BROKEN}, DENY, {**ALLOW, "when": BROKEN}))

    assert verdict is not None
    assert (verdict.rule, verdict.reason) == ("rule 2", "policy 'p' denies it")


@pytest.mark.parametrize("word", ["deny", "ask", "allow"])
def test_a_condition_of_a_rule_for_something_else_harms_nothing(word: str) -> None:
    rules = layer({"effect": word, "tools": ["mail"], "actions": ["tool"], "when": BROKEN}, ALLOW)

    assert effect(rules) is Effect.ALLOW


def test_what_failed_is_told_with_its_rule() -> None:
    verdict = said(layer({**ALLOW, "name": "large", "when": BROKEN}))

    assert verdict is not None
    assert (
        verdict.reason == "the condition of 'large' of policy 'p' failed: there is no \"missing\""
    )
    assert (verdict.policy, verdict.rule, verdict.source) == ("p", "large", "p.yaml:3")


def test_a_verdict_names_its_rule_and_place() -> None:
    ask = {**ASK, "name": "large", "reason": "Too much.", "expires": timedelta(hours=4)}

    verdict = said(layer(ALLOW, ask))

    assert verdict == Verdict(
        effect=Effect.ASK,
        reason="Too much.",
        policy="p",
        rule="large",
        source="p.yaml:4",
        layer="desk",
        expires=timedelta(hours=4),
    )


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("deny", "policy 'p' denies it"),
        ("ask", "policy 'p' wants a person asked"),
        ("allow", "policy 'p' allows it"),
    ],
)
def test_a_rule_without_reason_and_name_has_ones_of_ours(word: str, reason: str) -> None:
    verdict = said(layer({"effect": word}))

    assert verdict is not None
    assert (verdict.reason, verdict.rule) == (reason, "rule 1")


def test_what_no_rule_allows_is_denied_by_the_layer() -> None:
    verdict = said(layer({**ALLOW, "tools": ["mail"]}))

    assert verdict == Verdict(
        effect=Effect.DENY, reason="no rule of 'desk' allows it", layer="desk"
    )


def test_policies_of_one_layer_work_as_one() -> None:
    policies = [policy({**ALLOW, "tools": ["mail"]}), policy(DENY, name="q")]

    verdict = Layer.of("desk", policies, function_of=lambda _: lambda _: True).decide(
        Facts(attempt(tool="mail"))
    )

    assert verdict is not None
    assert (verdict.effect, verdict.policy) == (Effect.DENY, "q")


def test_a_layer_remembers_its_rules_for_many_kinds_of_attempts() -> None:
    rules = layer({**DENY, "tools": ["tool_7", "tool_2*"]})

    denied = [
        number
        for _ in range(2)
        for number in range(3_000)
        if effect(rules, attempt(tool=f"tool_{number}"))
    ]

    assert denied[: len(denied) // 2] == denied[len(denied) // 2 :]
    assert len(denied) == 2 * (1 + 1 + 10 + 100 + 1_000)


@pytest.mark.parametrize("word", ["deny", "ask", "allow"])
def test_a_rule_that_asks_about_everything_does_not_ask_whether_it_may_be_answered(
    word: str,
) -> None:
    rules = layer({"effect": word, "tools": ["refund"]})

    answered = effect(rules, attempt(Action.APPROVE))

    assert answered is (None if word == "ask" else Effect(word))


def test_a_rule_that_names_answers_is_for_them() -> None:
    rules = layer({**ASK, "actions": ["tool", "approve"]})

    assert effect(rules, attempt(Action.APPROVE)) is Effect.ASK
