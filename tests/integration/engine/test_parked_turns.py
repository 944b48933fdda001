"""Turns that wait for people, and what may come meanwhile."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from runner.core.approvals import Answer
from runner.core.coordination import Reach
from runner.core.errors import ApprovalAnswered
from runner.core.jsonvalue import JsonObject
from runner.core.ports import ApprovalFilter
from runner.core.records import StepWrite, Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import ToolContext, ToolRules
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import (
    answer_all,
    approve,
    asking,
    assert_answered,
    open_approvals,
    policing,
)
from tests.integration.engine.bench import Bench
from tests.integration.engine.refunds import refunding


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
