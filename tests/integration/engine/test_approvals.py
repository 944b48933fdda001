"""Calls that people have to approve first."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from runner.core.approvals import Answer
from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.errors import ApprovalAnswered, NotFound, NotPermitted
from runner.core.ids import ApprovalId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import ModelResponse
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import ToolContext
from runner.definitions.snapshot import ResolvedLimits
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority, saying
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
    ADA,
    approve,
    asking,
    assert_answered,
    deny,
    events,
    open_approvals,
    policing,
)
from tests.integration.engine.bench import Bench
from tests.integration.engine.refunds import REFUND, refunding
from tests.racing import race, unless
from tests.store_helpers import expire_approval


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
