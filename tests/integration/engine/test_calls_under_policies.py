"""What policies say to calls, asked right before they are made."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from runner.core.authorization import Effect
from runner.core.jsonvalue import JsonObject
from runner.core.ports import ApprovalFilter
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import Recovery, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
    answer_all,
    approve,
    asking,
    events,
    open_approvals,
    policing,
)
from tests.integration.engine.bench import Bench
from tests.integration.engine.refunds import REFUND, refunding


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        pytest.param(("act", {}), "'n' is missing", id="invalid-arguments"),
        pytest.param(("atc", {"n": 1}), "did you mean 'act'", id="unknown-tool"),
        pytest.param(("act", {"n": 2}), "max_tool_executions_by_name.act allows 1", id="no-room"),
    ],
)
def test_nobody_is_asked_about_a_call_that_could_not_be_made_anyway(
    store: Store, wanted: tuple[str, JsonObject], said: str
) -> None:
    authority = FakeAuthority()
    client = FakeClient(calls(("act", {"n": 1})), calls(wanted, prefix="b"), says("Done."))
    tool = FakeTool("act", lambda _arguments, _context: authority.say(Effect.ASK), requires=("n",))
    limits = ResolvedLimits(max_tool_executions_by_name={"act": 1})
    bench = Bench(store, make_agent(client, tool, limits=limits), policing=policing(authority))

    turn = bench.run()

    assert turn.result == "Done."
    assert bench.executions(turn)[1].status is ExecutionStatus.REFUSED
    assert said in str(bench.results(turn)[1].content["error"])
    assert store.views.approvals(ApprovalFilter(answered=True)) == []


def test_a_call_that_a_policy_denies_has_no_effect_and_counts_against_no_limit(
    store: Store,
) -> None:
    authority = FakeAuthority()
    authority.say(Effect.DENY, tool="refund")
    bench, tool, client = refunding(store, authority)

    turn = bench.run()

    assert (turn.result, turn.tool_executions, tool.calls) == ("Done.", 0, [])
    assert "denied by policy: operator says deny" in str(client.requests[-1].messages[-1].parts)
    [decided] = events(bench, turn, "policy.decided")
    assert decided.body == {
        "action": "tool",
        "tool": "refund",
        "execution_id": bench.executions(turn)[0].id,
        "effect": "deny",
        "policy": "operator-policy",
        "rule": "rule 1",
        "source": "policies.yaml:3",
        "layer": "operator",
        "reason": "operator says deny",
    }


def test_without_policies_no_decision_is_recorded(store: Store) -> None:
    bench, tool, _client = refunding(store, FakeAuthority())

    turn = bench.run()

    assert len(tool.calls) == 1
    assert events(bench, turn, "policy.decided") == []


def test_what_a_policy_allows_is_recorded_with_what_it_leads_to(store: Store) -> None:
    authority = FakeAuthority()
    authority.say(Effect.ALLOW, tool="refund")
    bench, _tool, _client = refunding(store, authority)

    turn = bench.run()

    [decided] = events(bench, turn, "policy.decided")
    assert decided.body["effect"] == "allow"


def test_a_policy_revoked_while_the_call_was_asked_about_denies(store: Store) -> None:
    authority = asking(tool="refund")
    bench, tool, _client = refunding(store, authority)
    turn = bench.run()
    [approval] = open_approvals(bench)
    approve(bench, approval)

    authority.say(Effect.DENY, tool="refund")
    bench.work_off()

    assert tool.calls == []
    assert bench.executions(turn)[0].status is ExecutionStatus.REFUSED
    assert bench.read(turn.id).result == "Done."


def test_a_policy_revoked_while_the_turn_was_queued_denies(store: Store) -> None:
    authority = FakeAuthority()
    bench, tool, _client = refunding(store, authority)
    turn = bench.submit()

    authority.say(Effect.DENY, tool="refund")
    bench.work_on(turn)

    assert tool.calls == []


def test_a_policy_revoked_between_a_mark_and_the_effect_denies_what_another_claim_would_begin(
    store: Store,
) -> None:
    """A slice that is over right after the mark hands the call back unbegun."""
    authority = FakeAuthority()
    tool = FakeTool("refund")
    client = FakeClient(calls(("refund", REFUND)), says("Done."))
    bench = Bench(
        store,
        make_agent(client, tool),
        slice_length=timedelta(microseconds=1),
        policing=policing(authority),
    )
    turn = bench.run()
    [run] = bench.executions(turn)
    assert (run.status, turn.status) == (ExecutionStatus.READY, TurnStatus.PENDING)

    authority.say(Effect.DENY, tool="refund")
    bench.work_off()

    assert tool.calls == []
    assert bench.executions(turn)[0].status is ExecutionStatus.REFUSED
    assert bench.read(turn.id).tool_executions == 0
    assert bench.read(turn.id).use.tool_executions == 0


def test_a_replay_safe_call_is_checked_again_before_it_runs_again(
    store: Store, expire_lease: Callable[[str], None]
) -> None:
    authority = FakeAuthority()
    rules = ToolRules(recovery=Recovery.REPLAY_SAFE)
    tool = FakeTool("refund", rules=rules)
    client = FakeClient(calls(("refund", REFUND)), says("Done."))
    agent = make_agent(client, tool)
    journal = MortalJournal(store.journal, number=2, before=True)
    first = Bench(store, agent, journal=journal, policing=policing(authority))
    second = Bench(store, agent, policing=policing(authority))
    turn = first.submit()
    first.die_on(turn)
    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)

    authority.say(Effect.DENY, tool="refund")
    second.work_off()

    assert len(tool.calls) == 1
    [run] = second.executions(turn)
    assert run.status is ExecutionStatus.INTERRUPTED
    said = str(second.results(turn)[0].content)
    assert "denied by policy: operator says deny; an earlier attempt died" in said


def test_a_replay_safe_call_that_is_asked_about_later_runs_again_once_approved(
    store: Store, expire_lease: Callable[[str], None]
) -> None:
    authority = FakeAuthority()
    tool = FakeTool("refund", rules=ToolRules(recovery=Recovery.REPLAY_SAFE))
    client = FakeClient(calls(("refund", REFUND)), says("Done."))
    agent = make_agent(client, tool)
    journal = MortalJournal(store.journal, number=2, before=True)
    first = Bench(store, agent, journal=journal, policing=policing(authority))
    second = Bench(store, agent, policing=policing(authority))
    turn = first.submit()
    first.die_on(turn)
    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)

    authority.say(Effect.ASK, tool="refund")
    second.work_off()
    assert second.read(turn.id).use.tool_executions == 0
    answer_all(second)

    assert len(tool.calls) == 2
    assert len(set(tool.keys)) == 1
    assert second.read(turn.id).use.tool_executions == 1
    assert second.read(turn.id).result == "Done."
