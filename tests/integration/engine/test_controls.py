"""Cancel, pause, resume and steer, at every moment of a turn's life."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Thread

import pytest

from runner.core.coordination import Reach, ReceiptState
from runner.core.errors import InvalidMove, KeyConflict, NotFound
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import ModelRequest, ModelResponse
from runner.core.records import Claim, StepWrite
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import ToolContext
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, Stall, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import LEASE, Bench, assert_valid
from tests.integration.engine.trees import make_parent

TWO = calls(("child", {"task": "One."}), ("child", {"task": "Two."}))


def echo(request: ModelRequest) -> ModelResponse:
    return says(f"Did: {request.messages[0].text}")


def start_stalled(bench: Bench, stall: Stall, turn_id: TurnId) -> Thread:
    thread = Thread(target=bench.worker.work_on, args=(turn_id,))
    thread.start()
    assert stall.begun.wait(60)
    return thread


def test_cancelling_during_a_model_call_stores_nothing_of_it(store: Store) -> None:
    stall = Stall()
    agent = make_agent(FakeClient(stall, says("Late.")))
    worker, person = Bench(store, agent), Bench(store, agent)
    turn = worker.submit()
    thread = start_stalled(worker, stall, turn.id)

    person.control.cancel(turn.id, reach=Reach.RETAIN)
    worker.heartbeat.beat()
    thread.join(60)

    assert not thread.is_alive()
    assert person.read(turn.id).status is TurnStatus.CANCELLED
    assert all(message.role is not Role.ASSISTANT for message in person.messages(turn))
    assert person.run("And now?", after=turn).result == "Late."


def test_input_that_a_cancelled_turn_had_not_taken_is_answered_by_the_next(store: Store) -> None:
    stall = Stall()
    agent = make_agent(FakeClient(stall, says("Yes.")))
    worker, person = Bench(store, agent), Bench(store, agent)
    turn = worker.submit()
    thread = start_stalled(worker, stall, turn.id)
    person.control.steer(turn.id, key="k", text="Mind this.")

    person.control.cancel(turn.id, reach=Reach.RETAIN)
    worker.heartbeat.beat()
    thread.join(60)
    person.work_off()

    continued = store.views.latest_turn(turn.conversation_id)
    assert continued.id != turn.id
    assert continued.result == "Yes."
    assert "Mind this." in [message.text for message in person.messages(turn)]


def test_cancelling_between_calls_answers_the_open_ones(store: Store) -> None:
    agent = make_agent(FakeClient(calls(("act", {}), ("act", {}))), FakeTool("act"))
    bench = Bench(store, agent, slice_length=timedelta(microseconds=1))
    turn = bench.submit()
    bench.work_on(turn)

    receipts = bench.control.cancel(turn.id, reach=Reach.RETAIN)

    assert bench.read(turn.id).status is TurnStatus.CANCELLED
    assert [receipt.turn_id for receipt in receipts.turns] == [turn.id]
    assert [run.status for run in bench.executions(turn)] == [ExecutionStatus.SKIPPED] * 2
    assert bench.read(turn.id).tool_executions == 0
    assert bench.read(turn.id).use.tool_executions == 0
    assert_valid(bench.messages(turn))


@pytest.mark.parametrize(
    ("reach", "children"),
    [(Reach.CASCADE, TurnStatus.CANCELLED), (Reach.RETAIN, TurnStatus.COMPLETED)],
)
def test_cancelling_a_waiting_parent_spares_its_children_or_not(
    store: Store, reach: Reach, children: TurnStatus
) -> None:
    bench = Bench(store, make_parent(FakeClient(TWO)), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()
    bench.work_on(parent)

    bench.control.cancel(parent.id, reach=reach)
    bench.work_off()

    assert bench.read(parent.id).status is TurnStatus.CANCELLED
    statuses = {t.status for t in store.views.tree(parent.id) if t.id != parent.id}
    assert statuses == {children}
    assert_valid(bench.messages(parent))


def test_cancelling_a_child_leaves_its_siblings_and_parent_alone(store: Store) -> None:
    bench = Bench(
        store,
        make_parent(FakeClient(TWO, says("One is missing."))),
        make_agent(FakeClient(echo), name="child"),
    )
    parent = bench.submit()
    bench.work_on(parent)
    first, second = [t for t in store.views.tree(parent.id) if t.id != parent.id]

    bench.control.cancel(first.id, reach=Reach.CASCADE)
    bench.work_off()

    assert bench.read(second.id).status is TurnStatus.COMPLETED
    assert bench.read(parent.id).result == "One is missing."
    contents = [result.content["status"] for result in bench.results(parent)]
    assert contents == ["cancelled", "completed"]


def test_cancelling_twice_or_after_the_end_changes_nothing(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.run()

    receipts = bench.control.cancel(turn.id, reach=Reach.CASCADE)

    assert bench.read(turn.id).status is TurnStatus.COMPLETED
    assert receipts.turns[0].state is ReceiptState.UNCHANGED


def test_a_queued_turn_is_cancelled_at_once_and_the_lane_goes_on(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("One."), says("Three."))))
    first = bench.submit("First.")
    second = bench.submit("Second.", after=first)
    third = bench.submit("Third.", after=first)

    bench.control.cancel(second.id, reach=Reach.RETAIN)
    bench.work_off()

    assert bench.read(second.id).status is TurnStatus.CANCELLED
    assert (bench.read(first.id).result, bench.read(third.id).result) == ("One.", "Three.")
    texts = [message.text for message in store.journal.transcript(first.conversation_id)]
    assert "Second." not in texts


@pytest.mark.parametrize("prepared", [True, False], ids=["prepared", "pending"])
def test_a_paused_turn_waits_for_resume_and_nothing_else(store: Store, *, prepared: bool) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.reception.prepare(bench.order()) if prepared else bench.submit()

    bench.control.pause(turn.id, reach=Reach.RETAIN)
    if prepared:
        bench.reception.submit_prepared(turn.id, bench.agent)
    bench.sweeper.sweep(quiet=timedelta(0))

    assert bench.read(turn.id).status is TurnStatus.PAUSED
    assert not bench.worker.work_on(turn.id)
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    assert bench.work_on(turn).result == "Done."


def test_a_running_turn_pauses_at_its_next_boundary(store: Store) -> None:
    bench: Bench

    def act(_arguments: JsonObject, context: ToolContext) -> object:
        bench.control.pause(context.turn_id, reach=Reach.RETAIN)
        return "done before the pause"

    tool = FakeTool("act", act)
    bench = Bench(
        store, make_agent(FakeClient(calls(("act", {}), ("act", {})), says("Done.")), tool)
    )
    turn = bench.submit()

    paused = bench.work_on(turn)

    assert paused.status is TurnStatus.PAUSED
    statuses = [run.status for run in bench.executions(turn)]
    assert statuses == [ExecutionStatus.COMPLETED, ExecutionStatus.READY]
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    bench.work_on(turn)
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    assert bench.work_on(turn).result == "Done."
    assert len(tool.calls) == 2


def test_the_end_of_children_does_not_unpause_a_parent(store: Store) -> None:
    bench = Bench(
        store,
        make_parent(FakeClient(TWO, says("Done."))),
        make_agent(FakeClient(echo), name="child"),
    )
    parent = bench.submit()
    bench.work_on(parent)
    bench.control.pause(parent.id, reach=Reach.RETAIN)

    bench.work_off()

    assert bench.read(parent.id).status is TurnStatus.PAUSED
    bench.control.resume(parent.id, reach=Reach.RETAIN)
    bench.work_off()
    assert bench.read(parent.id).result == "Done."


def test_a_parent_resumed_too_early_waits_on(store: Store) -> None:
    bench = Bench(store, make_parent(FakeClient(TWO)), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()
    bench.work_on(parent)
    bench.control.pause(parent.id, reach=Reach.RETAIN)

    bench.control.resume(parent.id, reach=Reach.RETAIN)

    assert bench.read(parent.id).status is TurnStatus.WAITING


def test_steering_during_a_model_call_skips_what_it_planned(store: Store) -> None:
    bench: Bench
    tool = FakeTool("act")

    def plan(request: ModelRequest) -> ModelResponse:
        turn_id = request.messages[0].turn_id
        bench.control.steer(turn_id, key="1", text="Rather not.")
        bench.control.steer(turn_id, key="2", text="Do this.")
        bench.control.steer(turn_id, key="2", text="Do this.")
        return calls(("act", {}), ("act", {}))

    client = FakeClient(plan, says("As you wish."))
    bench = Bench(store, make_agent(client, tool))

    turn = bench.run()

    assert turn.result == "As you wish."
    assert not tool.calls
    assert [run.status for run in bench.executions(turn)] == [ExecutionStatus.SKIPPED] * 2
    roles = [message.role for message in bench.messages(turn)]
    assert roles[-5:] == [Role.TOOL, Role.TOOL, Role.USER, Role.USER, Role.ASSISTANT]
    assert [m.text for m in client.requests[1].messages[-2:]] == ["Rather not.", "Do this."]
    assert_valid(bench.messages(turn))


def test_steering_at_the_last_moment_keeps_the_turn_going(store: Store) -> None:
    agent = make_agent(FakeClient(says("First."), says("Second.")))
    journal = MortalJournal(store.journal)
    bench = Bench(store, agent, journal=journal)
    turn = bench.submit()

    def steer(_write: StepWrite) -> None:
        bench.control.steer(turn.id, key="k", text="One more thing.")

    journal.on_commit = steer

    ended = bench.work_on(turn)

    assert ended.result == "Second."
    texts = [message.text for message in bench.messages(turn)]
    assert texts[-3:] == ["First.", "One more thing.", "Second."]


def test_a_turn_that_ended_cannot_be_steered(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.run()

    with pytest.raises(InvalidMove):
        bench.control.steer(turn.id, key="k", text="Too late.")


def test_a_key_is_for_one_text(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.submit()
    bench.control.steer(turn.id, key="k", text="This.")

    with pytest.raises(KeyConflict) as refused:
        bench.control.steer(turn.id, key="k", text="That.")

    assert "This." not in str(refused.value)
    bench.work_on(turn)


@pytest.mark.parametrize("control", ["cancel", "pause", "resume"])
def test_what_is_not_there_cannot_be_controlled(store: Store, control: str) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))

    with pytest.raises(NotFound):
        getattr(bench.control, control)(TurnId("turn_0"), reach=Reach.RETAIN)


def test_an_inline_turn_that_a_worker_took_over_needs_nobody_when_that_dies(
    store: Store, expire_lease: Callable[[str], None]
) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.reception.start(bench.order(), bench.worker_id, lease=LEASE)
    claim = Claim(turn_id=turn.id, worker_id=bench.worker_id, fence=turn.fence)
    handed_back = replace(turn, status=TurnStatus.PENDING, step=turn.step + 1)
    store.journal.commit(StepWrite(claim=claim, turn=handed_back))
    store.journal.claim(turn.id, bench.worker_id, lease=LEASE)
    expire_lease(turn.id)

    report = bench.sweeper.sweep(quiet=timedelta(0))

    assert turn.id in report.released
    assert bench.work_on(turn).result == "Done."


def test_an_inline_turn_whose_process_died_waits_for_a_person(
    store: Store, expire_lease: Callable[[str], None]
) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.reception.start(bench.order(), bench.worker_id, lease=LEASE)
    expire_lease(turn.id)

    report = bench.sweeper.sweep(quiet=timedelta(0))

    assert turn.id not in report.dispatched
    assert bench.read(turn.id).status is TurnStatus.STALE
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    assert bench.work_on(turn).result == "Done."
