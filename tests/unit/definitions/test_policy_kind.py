from pathlib import Path
from typing import get_args

import pytest

from runner.core.authorization import Action, Effect
from runner.definitions.policy import ActionWord, EffectWord, RulesPolicy
from runner.definitions.problem import Severity
from runner.definitions.snapshot import ResolvedAgent, resolve
from tests.unit.definitions.projects import load, only, told

RULES = """\
kind: policy
rules:
  - {effect: deny, tools: ["mail_*"], reason: No mail.}
  - name: large
    effect: ask
    tools: [refund]
    when: "arguments.amount > 100.0"
    arguments: {currency: [EUR, USD], express: true}
    expires: 4h
"""


def test_a_policy_of_rules_is_read_whole(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/refunds.yaml": RULES})

    assert project.problems == ()
    policy = project.registry.policy("refunds")
    assert isinstance(policy, RulesPolicy)
    mail, large = policy.rules
    assert (mail.effect, mail.tools, mail.reason) == ("deny", ("mail_*",), "No mail.")
    assert large.arguments == {"currency": ("EUR", "USD"), "express": (True,)}
    assert [rule.written_at for rule in policy.rules] == [
        "agents/refunds.yaml:3",
        "agents/refunds.yaml:4",
    ]


def test_an_agent_takes_its_policies_along_in_its_snapshot(tmp_path: Path) -> None:
    agent = "policies:\n  - refunds\n  - {name: own, rules: [{effect: allow}]}\n"

    project = load(tmp_path, {"agents/refunds.yaml": RULES, "agents/a.yaml": agent})
    snapshot = ResolvedAgent.from_canonical(resolve(project, "a").canonical())

    assert project.problems == ()
    refunds, own = snapshot.policies
    assert [rule.source for rule in refunds.rules] == [
        "agents/refunds.yaml:3",
        "agents/refunds.yaml:4",
    ]
    assert refunds.source == "agents/refunds.yaml:1"
    assert (own.name, own.rules[0].source) == ("own", "agents/a.yaml:3")
    assert snapshot.content_hash() == resolve(project, "a").content_hash()


def test_the_operator_names_policies_or_writes_them(tmp_path: Path) -> None:
    config = "authorization:\n  - refunds\n  - name: own\n    rules:\n      - {effect: deny}\n"

    project = load(tmp_path, {"agents/refunds.yaml": RULES, "config.yaml": config})

    assert project.problems == ()
    named, own = project.config.authorization
    assert named == "refunds"
    assert isinstance(own, RulesPolicy)
    assert own.rules[0].written_at == "config.yaml:5"
    assert project.is_policed


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("{effect: dney}", "3:14 bad-value"),
        ("{effects: deny}", "3:6 unknown-key"),
        ("{tools: [a]}", "3:5 missing-key"),
        ("{effect: deny, actions: [tol]}", "3:30 bad-value"),
        ("{effect: deny, actions: []}", "3:29 bad-value"),
        ("{effect: deny, tools: []}", "3:27 bad-value"),
        ("{effect: deny, tools: ['mail.?']}", "3:28 bad-name"),
        ("{effect: deny, agents: ['A b']}", "3:29 bad-name"),
        ("{effect: deny, principals: {role: {a: b}}}", "3:39 wrong-type"),
        ("{effect: deny, principals: {role: []}}", "3:39 wrong-type"),
        ("{effect: deny, arguments: {a: [[b]]}}", "3:35 wrong-type"),
        ("{effect: deny, arguments: [a]}", "3:31 wrong-type"),
        ("{effect: deny, when: }", "3:20 null-value"),
        ("{effect: deny, when: ''}", "3:26 bad-value"),
        ("{effect: deny, when: 'agnt == tool'}", "3:27 bad-condition"),
        ("{effect: deny, when: \"agent == 'a' && 1 +\"}", "3:46 bad-condition"),
        ("{effect: deny, when: tool == agnt}", "3:34 bad-condition"),
        ('{effect: deny, when: "\\u0061gnt"}', "3:26 bad-condition"),
        ("{effect: deny, expires: 1h}", "3:20 key-conflict"),
        ("{effect: ask, expires: soon}", "3:28 bad-duration"),
    ],
)
def test_a_rule_that_cannot_be_read_is_told_and_nothing_loads(
    rule: str, expected: str, tmp_path: Path
) -> None:
    text = f"kind: policy\nrules:\n  - {rule}\n"

    project = load(tmp_path, {"agents/p.yaml": text, "agents/a.yaml": "policies: [p]\n"})

    assert told(project.problems) == [f"agents/p.yaml:{expected}"]
    assert not project.is_sound
    assert project.is_policed
    assert "p" not in project.registry.policies


def test_a_mistake_in_a_condition_of_several_lines_is_told_at_its_place(tmp_path: Path) -> None:
    literal = "kind: policy\nrules:\n  - effect: deny\n    when: |\n      true\n        && agnt\n"
    folded = "kind: policy\nrules:\n  - effect: deny\n    when: >\n      true\n      && agnt\n"

    project = load(tmp_path, {"agents/p.yaml": literal, "agents/q.yaml": folded})

    assert told(project.problems) == [
        "agents/p.yaml:6:12 bad-condition",
        "agents/q.yaml:4:11 bad-condition",
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"agents/a.yaml": "policies: [p]\n"}, "agents/a.yaml:1:12", id="in an agent"),
        pytest.param({"config.yaml": "authorization: [p]\n"}, "config.yaml:1:17", id="in a config"),
        pytest.param(
            {"agents/a.yaml": "sub_agents: [{name: b, policies: [p]}]\n"},
            "agents/a.yaml:1:35",
            id="in an agent written in another",
        ),
    ],
)
def test_a_policy_that_does_not_exist_is_told(
    files: dict[str, str | bytes], expected: str, tmp_path: Path
) -> None:
    other = "kind: policy\nrules: []\n"

    problem = only(load(tmp_path, {**files, "agents/pp.yaml": other}).problems)

    assert (str(problem.location), problem.code) == (expected, "unknown-policy")
    assert problem.hint == "did you mean 'pp'?"


def test_a_policy_with_nothing_like_it_has_a_hint_of_what_to_do(tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": "policies: [p]\n"}).problems)

    assert problem.hint == "define it in a file with kind: policy"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("rules: []\npython: m:f\n", ["1:1 key-conflict"], id="both"),
        pytest.param("description: x\n", ["1:1 missing-key"], id="neither"),
        pytest.param("python: m:f\n", ["2:9 module-not-allowed"], id="a module not listed"),
        pytest.param("python: mf\n", ["2:9 bad-value"], id="no function"),
        pytest.param("rule: []\n", ["2:1 unknown-key"], id="a misspelt key"),
    ],
)
def test_a_policy_has_rules_or_a_function_that_is_allowed(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    project = load(tmp_path, {"agents/p.yaml": f"kind: policy\n{text}"})

    assert told(project.problems) == [f"agents/p.yaml:{one}" for one in expected]


def test_a_function_of_a_listed_module_is_a_policy(tmp_path: Path) -> None:
    files = {
        "config.yaml": "python_modules: [agents/python]\nauthorization: [p]\n",
        "agents/p.yaml": "kind: policy\npython: rules:office\n",
        "agents/python/rules.py": "",
        "agents/a.yaml": "policies: [p]\n",
    }

    project = load(tmp_path, files)

    assert project.problems == ()
    assert resolve(project, "a").policies[0].python == "rules:office"


def test_a_module_is_not_looked_for_while_the_list_of_modules_is_wrong(tmp_path: Path) -> None:
    files = {
        "config.yaml": "python_modules: [1]\n",
        "agents/p.yaml": "kind: policy\npython: rules:office\n",
    }

    assert told(load(tmp_path, files).problems) == ["config.yaml:1:18 wrong-type"]


def test_a_policy_without_its_kind_is_recognised(tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/p.yaml": "rules: []\n"}).problems)

    assert (problem.code, problem.hint) == ("missing-key", "add 'kind: policy'")


@pytest.mark.parametrize(
    ("first", "second", "code", "line"),
    [
        ("{effect: deny}", "{effect: allow, tools: [a]}", "unreachable-rule", 4),
        ("{effect: allow, tools: [a]}", "{effect: deny}", "unreachable-rule", 3),
        ("{effect: deny, tools: [a]}", "{effect: deny, tools: [a]}", "unreachable-rule", 4),
        ("{effect: ask, tools: ['a*']}", "{effect: allow, tools: [ab, ac]}", "unreachable-rule", 4),
        ("{effect: deny, tools: ['a*']}", "{effect: ask, tools: ['a*b']}", "unreachable-rule", 4),
        (
            "{effect: deny, principals: {role: ['*']}}",
            "{effect: allow, principals: {role: x}, when: 'true'}",
            "unreachable-rule",
            4,
        ),
        (
            "{effect: deny, arguments: {a: [1, 'x*', true]}}",
            "{effect: ask, arguments: {a: [xy, 1], b: 2}}",
            "unreachable-rule",
            4,
        ),
        (
            "{effect: deny, agents: [a], when: 'true'}",
            "{effect: allow, agents: [a], when: 'true'}",
            "contradictory-rule",
            4,
        ),
        ("{effect: allow}", "{effect: deny}", "contradictory-rule", 3),
    ],
)
def test_a_rule_that_never_decides_is_a_warning(
    first: str, second: str, code: str, line: int, tmp_path: Path
) -> None:
    text = f"kind: policy\nrules:\n  - {first}\n  - {second}\n"

    project = load(tmp_path, {"agents/p.yaml": text})

    problem = only(project.problems)
    assert (problem.code, problem.line, problem.severity) == (code, line, Severity.WARNING)
    assert [place.line for place in problem.related] == [7 - line]
    assert project.is_sound


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{effect: deny, tools: [a]}", "{effect: allow}"),
        ("{effect: deny, tools: [a]}", "{effect: allow, tools: [a, b]}"),
        ("{effect: deny, tools: [a, b]}", "{effect: allow, tools: ['a*']}"),
        ("{effect: deny, actions: [wait]}", "{effect: allow, actions: [wait, tool]}"),
        ("{effect: deny, when: 'true'}", "{effect: allow}"),
        ("{effect: deny, arguments: {a: 1}}", "{effect: allow, arguments: {a: true}}"),
        ("{effect: deny, arguments: {a: 1}}", "{effect: allow, arguments: {a: 'x'}}"),
        ("{effect: deny, principals: {a: x}}", "{effect: allow, arguments: {a: x}}"),
        ("{effect: allow, tools: [a]}", "{effect: ask, tools: [b]}"),
        ("{effect: ask}", "{effect: allow, actions: [approve]}"),
    ],
)
def test_a_rule_that_has_something_of_its_own_is_no_warning(
    first: str, second: str, tmp_path: Path
) -> None:
    text = f"kind: policy\nrules:\n  - {first}\n  - {second}\n"

    assert load(tmp_path, {"agents/p.yaml": text}).problems == ()


def test_the_words_for_actions_and_effects_are_those_of_the_engine() -> None:
    assert set(get_args(ActionWord)) == set(Action)
    assert set(get_args(EffectWord)) == set(Effect)


@pytest.mark.parametrize(
    ("files", "policed"),
    [
        ({"agents/a.yaml": "name: a\n"}, False),
        ({"agents/a.yaml": "policies: []\n"}, True),
        ({"agents/p.yaml": "kind: policy\nrules: 7\n"}, True),
        ({"agents/a.yaml": "sub_agents: [{name: b, policies: [p]}]\n"}, True),
        ({"agents/a.yaml": "sub_agents: [{name: b}]\n"}, False),
    ],
)
def test_a_project_knows_whether_it_speaks_of_policies(
    files: dict[str, str | bytes], *, policed: bool, tmp_path: Path
) -> None:
    assert load(tmp_path, files).is_policed is policed
