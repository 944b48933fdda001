"""Policies and approvals among turns that launch, join and tell each other."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.coordination import Reach
from runner.core.jsonvalue import JsonObject
from runner.core.model import ModelRequest, ModelResponse
from runner.core.records import StepWrite, Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.definitions.snapshot import ResolvedLimits
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority, saying
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
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
from tests.integration.engine.late import Late, launcher, sender
from tests.integration.engine.trees import make_parent, wait_for


def echo(request: ModelRequest) -> ModelResponse:
    return says(f"Did {request.messages[0].text}")


def asks_about(task: str) -> FakeAuthority:
    """Have people asked about the child's call with this task."""

    def rule(attempt: Attempt) -> Verdict | None:
        is_it = attempt.action is Action.LAUNCH_AGENT and attempt.arguments.get("task") == task
        return Verdict(effect=Effect.ASK, policy="family", layer="operator") if is_it else None

    return FakeAuthority({"operator": rule})


def family(
    store: Store,
    authority: FakeAuthority,
    *wanted: tuple[str, JsonObject],
    limits: ResolvedLimits | None = None,
) -> tuple[Bench, FakeTool]:
    tool = FakeTool("act")
    parent = make_parent(FakeClient(calls(*wanted), says("Done.")), tool, limits=limits)
    child = make_agent(FakeClient(echo), name="child")
    return Bench(store, parent, child, policing=policing(authority)), tool


def below(bench: Bench, turn: Turn) -> list[Turn]:
    return [each for each in bench.store.views.tree(turn.id) if each.id != turn.id]


def task(text: str) -> tuple[str, JsonObject]:
    return ("child", {"task": text})


def test_the_rest_of_a_group_fans_out_while_people_are_asked_about_one(store: Store) -> None:
    bench, _tool = family(store, asks_about("two"), task("one"), task("two"), task("three"))
    turn = bench.run()
    assert len(below(bench, turn)) == 2
    assert (turn.status, turn.open_waits, turn.open_approvals) == (TurnStatus.WAITING, 2, 1)
    [approval] = open_approvals(bench)
    assert approval.question.action is Action.LAUNCH_AGENT

    approve(bench, approval)
    bench.work_on(turn)
    assert len(below(bench, turn)) == 3
    bench.work_off()

    assert bench.read(turn.id).result == "Done."
    results = {result.call_id: result.content["result"] for result in bench.results(turn)}
    assert results == {"call_0": "Did one", "call_1": "Did two", "call_2": "Did three"}
    assert_answered(bench.messages(turn))


def test_no_more_children_are_at_work_than_may_be_although_one_was_asked_about(
    store: Store,
) -> None:
    limits = ResolvedLimits(max_fan_out=1)
    bench, _tool = family(store, asks_about("one"), task("one"), task("two"), limits=limits)
    turn = bench.run()
    assert len(below(bench, turn)) == 1

    [approval] = open_approvals(bench)
    approve(bench, approval)
    bench.work_on(turn)
    assert len(below(bench, turn)) == 1
    bench.work_off()

    assert len(below(bench, turn)) == 2
    assert bench.read(turn.id).result == "Done."


def test_children_that_end_are_collected_while_people_are_still_asked(store: Store) -> None:
    bench, tool = family(store, asks_about("two"), task("one"), task("two"), ("act", {}))
    turn = bench.run()

    bench.work_off()

    statuses = [run.status for run in bench.executions(turn)]
    assert statuses == [
        ExecutionStatus.COMPLETED,
        ExecutionStatus.ASKING,
        ExecutionStatus.COMPLETED,
    ]
    assert len(tool.calls) == 1
    answer_all(bench)
    assert bench.read(turn.id).result == "Done."
    assert_answered(bench.messages(turn))


def test_an_approved_tool_runs_while_children_before_and_behind_it_do_not_let_it_overtake(
    store: Store,
) -> None:
    authority = asking(tool="act")
    bench, tool = family(store, authority, ("act", {"n": 0}), task("one"), ("act", {"n": 1}))
    turn = bench.run()
    first, second = open_approvals(bench)

    approve(bench, second)
    bench.work_on(turn)
    assert tool.calls == [], "the call behind a child ran before it had ended"
    approve(bench, first)
    bench.work_on(turn)
    assert tool.calls == [{"n": 0}]
    bench.work_off()

    assert tool.calls == [{"n": 0}, {"n": 1}]
    assert bench.read(turn.id).result == "Done."


def test_a_denied_child_is_never_launched(store: Store) -> None:
    bench, _tool = family(store, asks_about("one"), task("one"))
    turn = bench.run()

    [approval] = open_approvals(bench)
    deny(bench, approval, "Not today.")
    bench.work_off()

    assert below(bench, turn) == []
    assert "not approved: Not today." in str(bench.results(turn)[0].content)
    assert bench.read(turn.id).use.children == 0


@pytest.mark.parametrize("action", [Action.LAUNCH_AGENT, Action.WAIT])
def test_a_sub_agents_call_launches_and_waits_and_needs_both(store: Store, action: Action) -> None:
    authority = FakeAuthority()
    authority.say(Effect.DENY, action=action.value)
    bench, _tool = family(store, authority, task("one"))

    turn = bench.run()

    assert below(bench, turn) == []
    assert bench.executions(turn)[0].status is ExecutionStatus.REFUSED
    [decided] = events(bench, turn, "policy.decided")
    assert (decided.body["action"], decided.body["tool"]) == (action.value, "child")


def test_new_input_waits_for_children_and_then_withdraws_what_is_asked(store: Store) -> None:
    bench, _tool = family(store, asks_about("two"), task("one"), task("two"), task("three"))
    turn = bench.run()
    [approval] = open_approvals(bench)
    bench.control.steer(turn.id, key="k", text="Stop.")
    assert bench.read(turn.id).status is TurnStatus.WAITING

    approve(bench, approval)
    bench.work_on(turn)
    assert len(below(bench, turn)) == 2, "a child was launched although there is new input"
    bench.work_off()

    assert bench.read(turn.id).result == "Done."
    assert [run.status for run in bench.executions(turn)] == [
        ExecutionStatus.COMPLETED,
        ExecutionStatus.SKIPPED,
        ExecutionStatus.COMPLETED,
    ]
    assert_answered(bench.messages(turn))


def test_a_family_that_is_cancelled_withdraws_what_its_members_ask(store: Store) -> None:
    parent = make_parent(FakeClient(calls(task("one")), says("Done.")))
    child = make_agent(FakeClient(calls(("act", {})), says("Did.")), FakeTool("act"), name="child")
    bench = Bench(store, parent, child, policing=policing(asking(tool="act")))
    turn = bench.run()
    bench.work_off()
    [approval] = open_approvals(bench)
    assert approval.question.agents == ("parent", "child")

    bench.control.cancel(turn.id, reach=Reach.CASCADE)
    bench.work_off()

    assert open_approvals(bench) == []
    assert {each.status for each in store.views.tree(turn.id)} == {TurnStatus.CANCELLED}


def test_a_child_cannot_do_what_its_parent_may_not(store: Store) -> None:
    tool = FakeTool("mail")
    parent = make_parent(FakeClient(calls(task("one")), says("Done.")))
    child = make_agent(FakeClient(calls(("mail", {})), says("Did.")), tool, name="child")
    layers = {
        "parent": saying(Effect.DENY, "parent", tool="mail"),
        "child": saying(Effect.ALLOW, "child", tool="mail"),
    }
    bench = Bench(store, parent, child, policing=policing(FakeAuthority(layers)))

    turn = bench.run()
    bench.work_off()

    assert bench.read(turn.id).result == "Done."
    assert tool.calls == []
    [grandchild] = below(bench, turn)
    assert [each.name for each in grandchild.place.ancestors] == ["parent"]
    assert grandchild.place.ancestors[0].definition_hash == turn.definition_hash
    assert "parent says deny" in str(bench.results(grandchild)[0].content)


def launching(
    store: Store, authority: FakeAuthority, *, callback: bool = True
) -> tuple[Bench, FakeClient]:
    late = launcher()
    wanted: JsonObject = {"agent": "child", "task": "Look.", "callback": callback}
    client = FakeClient(calls(("launch_agent", wanted)), says("Launched."), says("Thanks."))
    parent = make_agent(client, late.tool, name="parent")
    child = make_agent(FakeClient(echo), name="child")
    late.bench = bench = Bench(store, parent, child, policing=policing(authority))
    return bench, client


@pytest.mark.parametrize(
    ("action", "callback", "launched"),
    [
        (Action.LAUNCH_AGENT, False, 0),
        (Action.CALLBACK, False, 1),
        (Action.CALLBACK, True, 0),
        (Action.TOOL, True, 1),
    ],
)
def test_a_launch_needs_leave_to_launch_and_to_be_called_back(
    store: Store, action: Action, launched: int, *, callback: bool
) -> None:
    authority = FakeAuthority()
    authority.say(Effect.DENY, action=action.value)
    bench, _client = launching(store, authority, callback=callback)

    turn = bench.run()

    assert len(below(bench, turn)) == launched
    assert turn.result == "Launched."


def test_a_callback_that_may_not_be_any_more_is_dropped_and_the_end_stands(store: Store) -> None:
    authority = FakeAuthority()
    bench, client = launching(store, authority)
    turn = bench.run()
    [child] = below(bench, turn)

    authority.say(Effect.DENY, action="callback")
    bench.work_off()

    assert bench.read(child.id).status is TurnStatus.COMPLETED
    assert bench.kinds(child)[-2:] == ["policy.decided", "delivery.dropped"]
    [dropped] = events(bench, child, "delivery.dropped")
    assert dropped.body["reason"] == "the callback is denied: operator says deny"
    assert len(client.requests) == 2
    attempt, lineage = authority.asked[-1]
    assert (attempt.agent, attempt.tool, lineage) == ("parent", "launch_agent", ("parent",))
    assert attempt.arguments["task"] == "Look."


@pytest.mark.parametrize("is_approved", [True, False])
def test_a_callback_that_policies_ask_about_is_delivered_if_its_launch_was_approved(
    store: Store, *, is_approved: bool
) -> None:
    authority = FakeAuthority()
    if is_approved:
        authority.say(Effect.ASK, action="callback")
    bench, client = launching(store, authority)
    turn = bench.run()
    for approval in open_approvals(bench):
        assert approval.question.action is Action.CALLBACK
        approve(bench, approval)
        bench.work_on(turn)

    authority.say(Effect.ASK, action="callback")
    bench.work_off()

    [child] = below(bench, turn)
    told = ["delivery.sent" if is_approved else "delivery.dropped"]
    assert bench.kinds(child)[-2:] == ["policy.decided", *told]
    assert len(client.requests) == 2 + is_approved


def test_a_callback_that_a_person_asked_for_is_checked_for_the_turn_itself(store: Store) -> None:
    authority = FakeAuthority()
    bench = Bench(store, make_agent(FakeClient(says("Hi."))), policing=policing(authority))
    listener = bench.run()
    order = bench.order()
    turn = bench.reception.submit(
        type(order)(
            agent=order.agent,
            kind=order.kind,
            text="Go.",
            callback_to=listener.conversation_id,
        )
    )

    authority.say(Effect.ASK, action="callback")
    bench.work_off()

    [dropped] = events(bench, turn, "delivery.dropped")
    assert "needs an approval that was not given" in str(dropped.body["reason"])
    attempt, lineage = authority.asked[-1]
    assert (attempt.agent, attempt.tool, lineage) == ("tester", None, ("tester",))


@pytest.mark.parametrize(
    ("late", "action"),
    [(sender, Action.SEND_MESSAGE), (None, Action.WAIT)],
    ids=["send_message", "wait_for"],
)
def test_messages_and_joins_are_acts_of_their_own(
    store: Store, late: Callable[[], Late] | None, action: Action
) -> None:
    authority = FakeAuthority()
    authority.say(Effect.DENY, action=action.value)
    messenger = late() if late else None
    tool = messenger.tool if messenger else wait_for()
    other = Bench(store, make_agent(FakeClient(says("Hi."))))
    there = other.run()
    wanted: JsonObject = (
        {"conversation_id": there.conversation_id, "text": "Hello."}
        if messenger
        else {"turn_ids": [there.id]}
    )
    client = FakeClient(calls((tool.spec.name, wanted)), says("Done."))
    bench = Bench(store, make_agent(client, tool, name="writer"), policing=policing(authority))
    if messenger:
        messenger.bench = bench

    turn = bench.run()

    assert turn.result == "Done."
    assert bench.executions(turn)[0].status is ExecutionStatus.REFUSED
    assert store.deliveries.inbox(there.conversation_id) == []


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("number", range(1, 8))
def test_a_worker_that_dies_at_any_commit_loses_no_approval_and_repeats_no_effect(
    store: Store, expire_lease: Callable[[str], None], number: int, *, before: bool
) -> None:
    """The first response asks about a tool and a child, and calls one of each besides."""
    first_answer = calls(("act", {"n": 1}), ("ask", {"n": 2}), task("one"), task("two"))
    client = FakeClient(first_answer, says("Done."))
    act, ask = FakeTool("act"), FakeTool("ask")
    parent = make_parent(client, act, ask)
    child = make_agent(FakeClient(echo), name="child")
    authority = asks_about("two")
    about_tool = saying(Effect.ASK, tool="ask")
    about_child = authority.layers["operator"]
    authority.layers["operator"] = lambda attempt: about_tool(attempt) or about_child(attempt)
    journal = MortalJournal(store.journal, number=number, before=before)
    mortal = Bench(store, parent, child, journal=journal, policing=policing(authority))
    heir = Bench(store, parent, child, policing=policing(authority))
    turn = mortal.submit()

    for _ in range(3):
        mortal.die_on(turn)
        for each in store.views.tree(turn.id):
            if each.status is TurnStatus.RUNNING:
                expire_lease(each.id)
                if before and heir.read(turn.id).phase == "model":
                    client.put_back()
        store.sweeps.release_expired(limit=10)
        for approval in open_approvals(heir):
            approve(heir, approval)
    answer_all(heir)

    assert heir.read(turn.id).result == "Done."
    assert len(act.calls) <= 1, "an effect was repeated"
    assert len(ask.calls) <= 1, "an effect was repeated"
    assert len(below(heir, turn)) == 2
    assert_answered(heir.messages(turn))
    interrupted = [r for r in heir.executions(turn) if r.status is ExecutionStatus.INTERRUPTED]
    assert len(interrupted) <= 1
    assert len(act.calls) + len(ask.calls) + len(interrupted) >= 2


def test_an_answer_that_comes_while_children_are_launched_is_not_lost(store: Store) -> None:
    journal = MortalJournal(store.journal)
    parent = make_parent(FakeClient(calls(task("one"), task("two")), says("Done.")))
    child = make_agent(FakeClient(echo), name="child")
    bench = Bench(store, parent, child, journal=journal, policing=policing(asks_about("two")))

    def answer(write: StepWrite) -> None:
        if write.children:
            for approval in open_approvals(bench):
                approve(bench, approval)

    journal.on_commit = answer
    turn = bench.run()
    assert turn.status is TurnStatus.PENDING
    bench.work_on(turn)

    assert len(below(bench, turn)) == 2
    bench.work_off()
    assert bench.read(turn.id).result == "Done."


def test_a_sweep_finds_nothing_to_mend_while_people_and_children_are_waited_for(
    store: Store,
) -> None:
    bench, _tool = family(store, asks_about("two"), task("one"), task("two"))
    bench.run()

    report = bench.sweeper.sweep(quiet=None)

    assert (report.joined, report.expired, report.overdue) == ([], [], [])
    assert bench.sweeper.sweep(quiet=timedelta(hours=1)).due == []
