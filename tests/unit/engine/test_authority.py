from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runner.core.authorization import ALLOWED, Action, AgentRef, Attempt, Effect, Verdict
from runner.core.errors import ConfigError, NotFound
from runner.definitions.project import Project
from runner.definitions.snapshot import ResolvedAgent, resolve
from runner.engine.authority import PolicyAuthority
from tests.unit.definitions.projects import load

PLAIN = "name: a\n"
DENIES = "name: a\npolicies: [{name: p, rules: [{effect: deny, reason: No.}]}]\n"
ASKS = "name: a\npolicies: [{name: p, rules: [{effect: ask}]}]\n"


class Files:
    """A project's folder that is edited, and the snapshots that were taken of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = load(root, {"agents/zero.yaml": "description: Nothing.\n"})
        self.snapshots: dict[str, ResolvedAgent] = {}
        self.asked: list[str] = []

    def edit(self, files: Mapping[str, str | bytes]) -> Project:
        self.project = load(self.root, files)
        return self.project

    def begin(self, name: str, *, inside: str | None = None) -> AgentRef:
        definition = resolve(self.project, inside or name)
        if inside is not None:
            (found,) = (sub.definition for sub in definition.sub_agents if sub.name == name)
            assert found is not None
            definition = found
        content_hash = definition.content_hash()
        self.snapshots[content_hash] = definition
        return AgentRef(name=name, definition_hash=content_hash)

    def snapshot(self, content_hash: str) -> ResolvedAgent:
        self.asked.append(content_hash)
        if content_hash not in self.snapshots:
            raise NotFound(f"no snapshot {content_hash}")
        return self.snapshots[content_hash]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def authority(files: Files) -> PolicyAuthority:
    return PolicyAuthority(
        project=lambda: files.project, snapshot=files.snapshot, function_of=function_of
    )


def function_of(reference: str) -> Callable[[Attempt], object]:
    assert reference == "rules:agree"
    return lambda attempt: attempt.principal == {"role": "admin"}


def tried(authority: PolicyAuthority, *lineage: AgentRef, tool: str = "refund") -> Verdict:
    agent = lineage[-1].name if lineage else "a"
    return authority.decide(Attempt(action=Action.TOOL, agent=agent, tool=tool), lineage)


def test_without_policies_all_is_allowed(files: Files, authority: PolicyAuthority) -> None:
    files.edit({"agents/a.yaml": PLAIN})

    assert tried(authority, files.begin("a")) is ALLOWED
    assert authority.is_silent


def test_an_agents_own_policies_apply(files: Files, authority: PolicyAuthority) -> None:
    files.edit({"agents/a.yaml": DENIES})

    verdict = tried(authority, files.begin("a"))

    assert (verdict.effect, verdict.layer, verdict.reason) == (Effect.DENY, "a", "No.")
    assert verdict.source == "agents/a.yaml:2"
    assert not authority.is_silent


def test_an_edit_takes_away_from_a_turn_under_way(files: Files, authority: PolicyAuthority) -> None:
    files.edit({"agents/a.yaml": PLAIN})
    begun = files.begin("a")
    assert tried(authority, begun).effect is Effect.ALLOW

    files.edit({"agents/a.yaml": DENIES})

    assert tried(authority, begun).effect is Effect.DENY


def test_what_an_edit_gives_is_for_new_turns(files: Files, authority: PolicyAuthority) -> None:
    files.edit({"agents/a.yaml": DENIES})
    begun = files.begin("a")

    files.edit({"agents/a.yaml": ASKS})

    assert tried(authority, begun).effect is Effect.DENY
    assert tried(authority, files.begin("a")).effect is Effect.ASK


def test_an_agent_that_is_gone_keeps_the_policies_it_had(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": DENIES})
    begun = files.begin("a")
    (files.root / "agents/a.yaml").unlink()

    files.edit({})

    assert tried(authority, begun).effect is Effect.DENY


def test_a_policy_that_is_edited_counts_for_all_that_name_it(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": "policies: [p]\n", "agents/p.yaml": "kind: policy\nrules: []\n"})
    begun = files.begin("a")
    assert tried(authority, begun).effect is Effect.ALLOW

    files.edit({"agents/p.yaml": "kind: policy\nrules: [{effect: deny, tools: [refund]}]\n"})

    assert tried(authority, begun).effect is Effect.DENY


def test_a_child_may_not_do_what_its_parent_may_not(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": DENIES, "agents/b.yaml": "name: b\n"})
    parent, child = files.begin("a"), files.begin("b")

    assert tried(authority, child).effect is Effect.ALLOW
    assert tried(authority, parent, child).layer == "a"
    assert tried(authority, parent, child).effect is Effect.DENY


def test_nothing_lifts_what_the_operator_says(files: Files, authority: PolicyAuthority) -> None:
    own = "policies: [{name: p, rules: [{effect: allow}]}]\n"
    ceiling = "authorization: [{name: top, rules: [{effect: deny, tools: [refund]}]}]\n"
    files.edit({"agents/a.yaml": own, "config.yaml": ceiling})

    verdict = tried(authority, files.begin("a"))

    assert (verdict.effect, verdict.layer, verdict.policy) == (Effect.DENY, "operator", "top")
    assert verdict.source == "config.yaml:1"
    assert tried(authority, files.begin("a"), tool="mail").effect is Effect.ALLOW


def test_the_operators_policies_are_always_the_current_ones(
    files: Files, authority: PolicyAuthority
) -> None:
    config = "authorization: [top]\n"
    policy = "kind: policy\nrules: [{effect: deny}]\n"
    files.edit({"agents/a.yaml": PLAIN, "config.yaml": config, "agents/top.yaml": policy})
    begun = files.begin("a")
    assert tried(authority, begun).effect is Effect.DENY

    files.edit({"agents/top.yaml": "kind: policy\nrules: [{effect: ask}]\n"})

    assert tried(authority, begun).effect is Effect.ASK


def test_an_agent_written_in_another_is_found_there(
    files: Files, authority: PolicyAuthority
) -> None:
    inner = "sub_agents:\n  - name: inner\n    description: Helps.\n"
    files.edit({"agents/a.yaml": inner})
    parent, child = files.begin("a"), files.begin("inner", inside="a")
    assert tried(authority, parent, child).effect is Effect.ALLOW

    files.edit(
        {"agents/a.yaml": f"{inner}    policies: [{{name: p, rules: [{{effect: deny}}]}}]\n"}
    )

    assert tried(authority, parent, child).effect is Effect.DENY
    assert tried(authority, parent).effect is Effect.ALLOW
    assert not authority.is_silent


def test_a_function_is_a_policy(files: Files, authority: PolicyAuthority) -> None:
    files.edit(
        {
            "config.yaml": "python_modules: [agents/python]\nauthorization: [office]\n",
            "agents/office.yaml": "kind: policy\npython: rules:agree\n",
            "agents/python/rules.py": "",
        }
    )
    admin = Attempt(action=Action.CANCEL, agent="a", principal={"role": "admin"})

    assert authority.decide(admin, ()).effect is Effect.ALLOW
    assert tried(authority).effect is Effect.DENY


def test_a_snapshot_that_is_known_is_not_asked_for_again(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": DENIES})
    begun = files.begin("a")

    for _ in range(3):
        tried(authority, begun)
    files.edit({"agents/a.yaml": ASKS})
    tried(authority, begun)

    assert files.asked == [begun.definition_hash]


def test_a_snapshot_that_is_not_there_denies(files: Files, authority: PolicyAuthority) -> None:
    lost = AgentRef(name="a", definition_hash="lost")

    verdict = tried(authority, lost)

    assert verdict == Verdict(
        effect=Effect.DENY, reason="this could not be decided: no snapshot lost"
    )


def test_whatever_goes_wrong_denies(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Project:
        raise RuntimeError("disk")

    authority = PolicyAuthority(project=broken, snapshot=files.snapshot, function_of=function_of)

    assert tried(authority).reason == "this could not be decided: RuntimeError"
    assert "could not be decided" in caplog.text


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"agents/p.yaml": "kind: policy\nrules: [{effect: dney}]\n"}, id="a policy"),
        pytest.param({"agents/b.yaml": "policies: [p]\n"}, id="a policy that is not there"),
        pytest.param(
            {"config.yaml": "authorization: [{name: p, rules: []}]\n", "agents/b.yaml": "x: 1\n"},
            id="the operator has some",
        ),
    ],
)
def test_policies_that_cannot_be_read_deny(
    broken: Mapping[str, str | bytes], files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": PLAIN})
    begun = files.begin("a")

    files.edit(broken)

    assert not files.project.is_sound
    assert tried(authority, begun).effect is Effect.DENY
    assert "runner validate" in tried(authority, begun).reason
    with pytest.raises(ConfigError):
        authority.explain(Attempt(action=Action.TOOL, agent="a"), [begun])


def test_a_turn_that_began_with_policies_is_denied_while_the_current_ones_cannot_be_read(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": ASKS})
    begun = files.begin("a")

    files.edit({"agents/a.yaml": "x: 1\n"})

    assert authority.is_silent
    assert tried(authority, begun).effect is Effect.DENY


def test_files_with_errors_that_never_spoke_of_policies_deny_nothing(
    files: Files, authority: PolicyAuthority
) -> None:
    files.edit({"agents/a.yaml": PLAIN})
    begun = files.begin("a")

    files.edit({"agents/b.yaml": "x: 1\n"})

    assert tried(authority, begun) is ALLOWED


def test_an_explanation_comes_from_all_layers(files: Files, authority: PolicyAuthority) -> None:
    config = "authorization: [{name: top, rules: [{effect: ask, tools: [refund]}]}]\n"
    files.edit({"agents/a.yaml": DENIES, "config.yaml": config})

    found = authority.explain(
        Attempt(action=Action.TOOL, agent="a", tool="refund"), [files.begin("a")]
    )

    assert found.layers == ["operator", "a"]
    assert [one.effect for one in found.applying] == ["ask", "deny"]
    assert found.verdict.effect is Effect.DENY
