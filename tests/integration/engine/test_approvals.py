"""Calls that people have to approve first."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from runner.core.approvals import Answer
from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.coordination import Reach
from runner.core.errors import ApprovalAnswered, NotFound, NotPermitted
from runner.core.ids import ApprovalId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import ModelResponse
from runner.core.ports import ApprovalFilter
from runner.core.records import StepWrite, Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority, saying
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
    ADA,
    answer_all,
    approve,
    asking,
    assert_answered,
    deny,
    events,
    open_approvals,
    policing,
)
from tests.integration.engine.bench import Bench
from tests.racing import race, unless
from tests.store_helpers import expire_approval

REFUND: JsonObject = {"amount": 250, "to": "Ms Grün"}


def refunding(store: Store, authority: FakeAuthority) -> tuple[Bench, FakeTool, FakeClient]:
    """A bench whose agent refunds once."""
    tool = FakeTool("refund")
    client = FakeClient(calls(("refund", REFUND)), says("Done."))
    return Bench(store, make_agent(client, tool), policing=policing(authority)), tool, client


def test_an_asked_call_waits_without_a_worker_and_nothing_of_it_happens(store: Store) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))

    turn = bench.run()

    assert (turn.status, turn.worker_id, turn.open_approvals) == (TurnStatus.WAITING, None, 1)
    assert tool.calls == []
    [run] = bench.executions(turn)
    assert run.status is ExecutionStatus.ASKING
    [approval] = open_approvals(bench)
    question = approval.question
    assert (approval.turn_id, approval.execution_id) == (turn.id, run.id)
    assert (question.agents, question.tool, question.arguments) == (("tester",), "refund", REFUND)
    assert (question.action, question.policy, question.rule) == (
        Action.TOOL,
        "operator-policy",
        "rule 1",
    )
    assert (question.source, question.reason) == ("policies.yaml:3", "operator says ask")
    assert store.sweeps.unattended(limit=10) == []


def test_an_approved_call_runs_once_with_exactly_what_was_shown(store: Store) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    [approval] = open_approvals(bench)

    answered = approve(bench, approval)
    assert bench.dispatcher.sent[-1] == turn.id
    bench.work_off()

    assert (answered.answer, answered.answered_by) == (Answer.APPROVED, ADA)
    assert bench.read(turn.id).result == "Done."
    assert tool.calls == [approval.question.arguments]
    assert bench.read(turn.id).tool_executions == 1
    assert [each.body["effect"] for each in events(bench, turn, "policy.decided")] == ["ask", "ask"]
    assert events(bench, turn, "policy.decided")[1].body["approval_id"] == approval.id
    [told] = events(bench, turn, "approval.answered")
    assert (told.body["answer"], told.body["answered_by"]) == ("approved", ADA)


def test_a_denied_call_has_no_effect_and_the_model_reads_why(store: Store) -> None:
    bench, tool, client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    [approval] = open_approvals(bench)

    deny(bench, approval, "She was refunded before.")
    bench.work_off()

    assert tool.calls == []
    [run] = bench.executions(turn)
    assert run.status is ExecutionStatus.REFUSED
    assert "not approved: She was refunded before." in str(client.requests[-1].messages[-1].parts)
    assert bench.read(turn.id).tool_executions == 0


def test_what_nobody_answers_in_time_is_denied(store: Store, database: Database) -> None:
    bench, tool, client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    [approval] = open_approvals(bench)
    expire_approval(database, approval.id)

    with pytest.raises(ApprovalAnswered, match="has expired, which denies the call"):
        approve(bench, approval)
    report = bench.sweeper.sweep(quiet=timedelta(0))
    bench.work_off()

    assert report.expired == [turn.id]
    assert tool.calls == []
    assert "nobody answered in time" in str(client.requests[-1].messages[-1].parts)
    assert store.views.approval(approval.id).answer is Answer.EXPIRED
    assert bench.read(turn.id).status is TurnStatus.COMPLETED


def test_an_approval_never_outlasts_its_turn(store: Store) -> None:
    limits = ResolvedLimits(timeout=timedelta(minutes=3))
    agent = make_agent(FakeClient(calls(("act", {}))), FakeTool("act"), limits=limits)
    bench = Bench(store, agent, policing=policing(asking(tool="act")))

    turn = bench.run()

    [approval] = open_approvals(bench)
    assert approval.expires_at == turn.deadline_at


def test_a_rule_may_say_how_long_there_is_to_answer(store: Store) -> None:
    authority = FakeAuthority(
        {"operator": lambda _: Verdict(effect=Effect.ASK, expires=timedelta(seconds=90))}
    )
    bench, _tool, _client = refunding(store, authority)

    bench.run()

    [approval] = open_approvals(bench)
    assert approval.expires_at - approval.asked_at == timedelta(seconds=90)


def test_the_other_calls_of_a_response_run_while_people_are_asked(store: Store) -> None:
    order: list[str] = []

    def act(arguments: JsonObject, _context: ToolContext) -> object:
        order.append(str(arguments["n"]))
        return {"n": arguments["n"]}

    wanted: list[tuple[str, JsonObject]] = [
        ("ask", {"n": 0}),
        ("act", {"n": 1}),
        ("ask", {"n": 2}),
        ("act", {"n": 3}),
    ]
    client = FakeClient(calls(*wanted), says("Done."))
    agent = make_agent(client, FakeTool("ask", act), FakeTool("act", act))
    bench = Bench(store, agent, policing=policing(asking(tool="ask")))

    turn = bench.run()
    first, second = open_approvals(bench)
    assert order == ["1", "3"]
    assert turn.open_approvals == 2
    approve(bench, second)
    bench.work_off()
    assert (bench.read(turn.id).status, order) == (TurnStatus.WAITING, ["1", "3", "2"])
    deny(bench, first)
    bench.work_off()

    assert order == ["1", "3", "2"]
    assert bench.read(turn.id).result == "Done."
    assert_answered(bench.messages(turn))
    assert_answered([*client.requests[-1].messages])


@pytest.mark.parametrize("answers", [[approve, approve], [deny, approve], [deny, deny]])
def test_answers_that_come_together_are_acted_on_together(
    store: Store, answers: list[Callable[..., object]]
) -> None:
    client = FakeClient(calls(("act", {"n": 0}), ("act", {"n": 1})), says("Done."))
    tool = FakeTool("act")
    bench = Bench(store, make_agent(client, tool), policing=policing(asking(tool="act")))
    turn = bench.run()

    for answer, approval in zip(answers, open_approvals(bench), strict=True):
        answer(bench, approval)
    bench.work_off()

    assert bench.read(turn.id).result == "Done."
    assert len(tool.calls) == answers.count(approve)


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


def test_a_terminal_tool_withdraws_what_is_still_asked(store: Store) -> None:
    tool = FakeTool("act")
    finish = FakeTool("finish", rules=ToolRules(terminal=True))
    client = FakeClient(calls(("act", {}), ("finish", {})))
    bench = Bench(store, make_agent(client, tool, finish), policing=policing(asking(tool="act")))

    turn = bench.run()

    assert turn.status is TurnStatus.COMPLETED
    [approval] = store.views.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.WITHDRAWN
    assert [run.status for run in bench.executions(turn)] == [
        ExecutionStatus.SKIPPED,
        ExecutionStatus.COMPLETED,
    ]
    assert_answered(bench.messages(turn))
    with pytest.raises(ApprovalAnswered, match="was withdrawn"):
        approve(bench, approval)


def steer(bench: Bench, turn: Turn) -> None:
    bench.control.steer(turn.id, key="k", text="Leave it.")


def cancel(bench: Bench, turn: Turn) -> None:
    bench.control.cancel(turn.id, reach=Reach.CASCADE)


@pytest.mark.parametrize(
    ("act", "status"),
    [
        pytest.param(steer, TurnStatus.COMPLETED, id="steer"),
        pytest.param(cancel, TurnStatus.CANCELLED, id="cancel"),
    ],
)
def test_a_turn_that_is_redirected_or_ended_withdraws_what_it_asks(
    store: Store, act: Callable[[Bench, Turn], None], status: TurnStatus
) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()

    act(bench, turn)
    bench.work_off()

    assert bench.read(turn.id).status is status
    assert tool.calls == []
    [approval] = store.views.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.WITHDRAWN
    assert bench.executions(turn)[0].status is ExecutionStatus.SKIPPED
    assert_answered(bench.messages(turn))


def test_a_turn_whose_time_is_over_withdraws_what_it_asks(
    store: Store, pass_deadline: Callable[[str], None]
) -> None:
    bench, _tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()

    pass_deadline(turn.id)
    bench.sweeper.sweep(quiet=timedelta(0))
    bench.work_off()

    ended = bench.read(turn.id)
    assert ended.error is not None
    assert ended.error.code == "limit"
    [approval] = store.views.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.WITHDRAWN


def test_an_answer_while_the_turn_is_paused_waits_until_it_is_resumed(store: Store) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    [approval] = open_approvals(bench)
    bench.control.pause(turn.id, reach=Reach.RETAIN)

    approve(bench, approval)
    bench.work_off()
    assert (bench.read(turn.id).status, tool.calls) == (TurnStatus.PAUSED, [])
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    bench.work_off()

    assert len(tool.calls) == 1
    assert bench.read(turn.id).result == "Done."


def test_a_turn_that_is_resumed_before_anybody_answered_waits_on(store: Store) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    bench.control.pause(turn.id, reach=Reach.RETAIN)

    bench.control.resume(turn.id, reach=Reach.RETAIN)
    bench.work_off()

    assert (bench.read(turn.id).status, tool.calls) == (TurnStatus.WAITING, [])
    answer_all(bench)
    assert bench.read(turn.id).result == "Done."


def test_an_answer_that_comes_while_the_turn_parks_is_not_lost(store: Store) -> None:
    """It comes when the step that will wait for it has been put together."""
    client = FakeClient(calls(("ask", {}), ("act", {})), says("Done."))
    tool = FakeTool("ask")
    journal = MortalJournal(store.journal)
    agent = make_agent(client, tool, FakeTool("act"))
    bench = Bench(store, agent, journal=journal, policing=policing(asking(tool="ask")))

    def answer(write: StepWrite) -> None:
        if write.turn.status is TurnStatus.WAITING and open_approvals(bench):
            for approval in open_approvals(bench):
                approve(bench, approval)

    journal.on_commit = answer
    turn = bench.run()

    assert turn.status is TurnStatus.PENDING
    bench.work_off()
    assert len(tool.calls) == 1
    assert bench.read(turn.id).result == "Done."


def test_an_answer_that_comes_while_other_calls_run_is_acted_on_by_the_same_claim(
    store: Store,
) -> None:
    def approve_now(_arguments: JsonObject, _context: ToolContext) -> object:
        for approval in open_approvals(bench):
            approve(bench, approval)
        return "ok"

    client = FakeClient(calls(("ask", {}), ("act", {}), ("act", {})), says("Done."))
    tool = FakeTool("ask")
    agent = make_agent(client, tool, FakeTool("act", approve_now))
    bench = Bench(store, agent, policing=policing(asking(tool="ask")))

    turn = bench.run()

    assert (turn.result, turn.fence, len(tool.calls)) == ("Done.", 1, 1)
    assert_answered(bench.messages(turn))


def test_steering_that_comes_while_the_turn_parks_is_not_lost(store: Store) -> None:
    client = FakeClient(calls(("ask", {}), ("act", {})), says("Done."))
    journal = MortalJournal(store.journal)
    agent = make_agent(client, FakeTool("ask"), FakeTool("act"))
    bench = Bench(store, agent, journal=journal, policing=policing(asking(tool="ask")))

    def tell(write: StepWrite) -> None:
        if write.turn.status is TurnStatus.WAITING:
            steer(bench, bench.read(write.turn.id))

    journal.on_commit = tell
    turn = bench.run()
    bench.work_off()

    assert bench.read(turn.id).status is TurnStatus.COMPLETED
    [approval] = store.views.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.WITHDRAWN


def test_an_unknown_approval_cannot_be_answered(store: Store) -> None:
    bench, _tool, _client = refunding(store, asking(tool="refund"))

    with pytest.raises(NotFound, match="there is no approval 'appr_0'; `runner approvals`"):
        bench.approving.answer(ApprovalId("appr_0"), Answer.APPROVED, principal=None)
    with pytest.raises(NotFound):
        store.approvals.answer(ApprovalId("appr_0"), Answer.DENIED, principal=None, reason=None)


def test_an_answer_of_nobody_that_is_refused_says_how_to_be_somebody(store: Store) -> None:
    authority = asking(action="tool")
    bench, _tool, _client = refunding(store, authority)
    bench.run()
    [approval] = open_approvals(bench)
    authority.layers["tester"] = saying(Effect.DENY, "tester", action="approve")

    with pytest.raises(NotPermitted, match="says deny \\(nobody was named; --principal says who"):
        bench.approving.answer(approval.id, Answer.APPROVED, principal=None)


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
def test_only_who_may_answers(store: Store, effect: Effect) -> None:
    authority = asking(action="tool")
    bench, tool, _client = refunding(store, authority)
    turn = bench.run()
    [approval] = open_approvals(bench)
    authority.layers["tester"] = saying(effect, "tester", action="approve")

    with pytest.raises(NotPermitted, match=f"is not yours to answer: tester says {effect.value}"):
        approve(bench, approval)

    assert open_approvals(bench) == [approval]
    attempt, lineage = authority.asked[-1]
    assert (attempt.action, attempt.principal, attempt.tool) == (Action.APPROVE, ADA, "refund")
    assert (attempt.arguments, lineage) == (REFUND, ("tester",))
    assert (bench.read(turn.id).status, tool.calls) == (TurnStatus.WAITING, [])


def test_of_many_that_answer_at_once_one_does(store: Store) -> None:
    bench, tool, _client = refunding(store, asking(tool="refund"))
    turn = bench.run()
    [approval] = open_approvals(bench)
    given = [Answer.APPROVED if number % 2 else Answer.DENIED for number in range(20)]
    answer = partial(bench.approving.answer, approval.id, principal=ADA)

    done = race([unless(ApprovalAnswered, partial(answer, each)) for each in given])
    bench.work_off()

    answers = [each for each, is_kept in zip(given, done, strict=True) if is_kept]

    assert len(answers) == 1
    assert len(tool.calls) == (answers == [Answer.APPROVED])
    assert len(events(bench, turn, "approval.answered")) == 1
    stored = store.views.approval(approval.id)
    said = f"was {answers[0].value} before, by .*user"
    with pytest.raises(ApprovalAnswered, match=said):
        approve(bench, stored)


def test_two_approvals_answered_at_the_same_moment_always_let_the_turn_go_on(
    store: Store,
) -> None:
    tool = FakeTool("act")
    client = FakeClient(lambda request: _two_calls_then_done(request.messages[-1].role))
    bench = Bench(store, make_agent(client, tool), policing=policing(asking(tool="act")))
    for _ in range(10):
        turn = bench.run()
        race([partial(approve, bench, approval) for approval in open_approvals(bench)])
        bench.work_off()

        assert bench.read(turn.id).result == "Done."

    assert len(tool.calls) == 20


def _two_calls_then_done(last: Role) -> ModelResponse:
    return says("Done.") if last is Role.TOOL else calls(("act", {"n": 0}), ("act", {"n": 1}))


def test_the_verdict_on_a_call_sees_whose_turn_it_is_and_nothing_a_model_made_up(
    store: Store,
) -> None:
    authority = FakeAuthority()
    bench, _tool, _client = refunding(store, authority)

    turn = bench.run()

    [(attempt, lineage)] = authority.asked
    assert attempt == Attempt(
        action=Action.TOOL,
        agent="tester",
        principal=None,
        tool="refund",
        arguments=REFUND,
        turn={
            "id": turn.id,
            "kind": "task",
            "depth": 0,
            "parent_id": None,
            "root_id": turn.id,
        },
        conversation={"id": turn.conversation_id, "agent": "tester"},
        context={},
    )
    assert lineage == ("tester",)
