"""Parents that wait for children without holding a worker."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.model import ModelRequest, ModelResponse
from runner.core.ports import TurnFilter
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.core.tooling import ToolContext
from runner.definitions.snapshot import ResolvedLimits
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench, assert_valid
from tests.integration.engine.trees import delegate_to, make_parent
from tests.store_helpers import counting

TWO = calls(("child", {"task": "One."}), ("child", {"task": "Two."}))


def echo(request: ModelRequest) -> ModelResponse:
    """Answer with the task."""
    return says(f"Did: {request.messages[0].text}")


def below(bench: Bench, turn: Turn) -> list[Turn]:
    return [each for each in bench.store.views.tree(turn.id) if each.id != turn.id]


def test_a_parent_waits_without_a_worker_and_reads_results_in_call_order(store: Store) -> None:
    client = FakeClient(TWO, says("Both done."))
    bench = Bench(store, make_parent(client), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()

    waiting = bench.work_on(parent)
    first, second = below(bench, parent)

    assert waiting.status is TurnStatus.WAITING
    assert (waiting.worker_id, waiting.lease_expires_at, waiting.open_waits) == (None, None, 2)
    assert set(bench.dispatcher.sent) == {first.id, second.id}
    assert bench.work_on(second).result == "Did: Two."
    assert bench.read(parent.id).status is TurnStatus.WAITING
    assert bench.work_on(first).result == "Did: One."
    assert bench.read(parent.id).status is TurnStatus.PENDING
    assert bench.dispatcher.sent[-1] == parent.id
    assert bench.work_on(parent).result == "Both done."
    results = [result.content for result in bench.results(parent)]
    assert [result["result"] for result in results] == ["Did: One.", "Did: Two."]
    assert [result["status"] for result in results] == ["completed", "completed"]
    assert set(results[0]) == {
        "turn_id",
        "conversation_id",
        "status",
        "result",
        "output_data",
        "error",
    }
    assert_valid(bench.messages(parent))


def test_children_know_their_place_and_their_task(store: Store) -> None:
    bench = Bench(store, make_parent(FakeClient(TWO)), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()

    bench.work_on(parent)

    for child in below(bench, parent):
        assert child.place.root_id == parent.id
        assert child.place.parent_id == parent.id
        assert child.place.depth == 1
        assert child.conversation_id != parent.conversation_id
        assert child.deadline_at is not None
        assert parent.deadline_at is not None
        assert child.deadline_at <= parent.deadline_at


def test_a_child_that_fails_is_a_result_and_the_parent_goes_on(store: Store) -> None:
    child = make_agent(FakeClient(ValueError("broken")), name="child")
    bench = Bench(
        store, make_parent(FakeClient(calls(("child", {"task": "x"})), says("It failed."))), child
    )
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    assert bench.read(parent.id).result == "It failed."
    (result,) = bench.results(parent)
    assert result.content["status"] == "failed"
    assert isinstance(result.content["error"], dict)
    assert bench.executions(parent)[0].status is ExecutionStatus.FAILED


def test_an_invalid_call_is_answered_at_its_place(store: Store) -> None:
    client = FakeClient(
        calls(("child", {"task": "One."}), ("child", {"tsak": "?"}), ("child", {"task": "Two."})),
        says("Done."),
    )
    bench = Bench(store, make_parent(client), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()

    bench.work_on(parent)
    assert len(below(bench, parent)) == 2
    bench.work_off()

    statuses = [run.status for run in bench.executions(parent)]
    assert statuses == [
        ExecutionStatus.COMPLETED,
        ExecutionStatus.REFUSED,
        ExecutionStatus.COMPLETED,
    ]
    assert_valid(bench.messages(parent))


def test_ordinary_tools_and_children_never_overtake_each_other(store: Store) -> None:
    order: list[str] = []

    def log(arguments: JsonObject, _context: ToolContext) -> object:
        order.append(str(arguments["n"]))
        return "ok"

    def child_answer(request: ModelRequest) -> ModelResponse:
        order.append("child")
        return says("ok")

    client = FakeClient(
        calls(("log", {"n": 1}), ("child", {"task": "x"}), ("log", {"n": 2})), says("Done.")
    )
    bench = Bench(
        store,
        make_parent(client, FakeTool("log", log)),
        make_agent(FakeClient(child_answer), name="child"),
    )
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    assert order == ["1", "child", "2"]
    assert bench.read(parent.id).result == "Done."


def test_more_children_than_may_run_at_once_come_in_batches(store: Store) -> None:
    wanted = calls(*[("child", {"task": str(n)}) for n in range(5)])
    limits = ResolvedLimits(max_fan_out=2)
    bench = Bench(
        store,
        make_parent(FakeClient(wanted, says("Done.")), limits=limits),
        make_agent(FakeClient(echo), name="child"),
    )
    parent = bench.submit()

    bench.work_on(parent)
    assert len(below(bench, parent)) == 2
    bench.work_off()

    assert [result.content["result"] for result in bench.results(parent)] == [
        f"Did: {n}" for n in range(5)
    ]


def test_children_the_tree_has_no_room_for_are_refused(store: Store) -> None:
    wanted = calls(*[("child", {"task": str(n)}) for n in range(3)])
    limits = ResolvedLimits(max_children=2)
    bench = Bench(
        store,
        make_parent(FakeClient(wanted, says("Done.")), limits=limits),
        make_agent(FakeClient(echo), name="child"),
    )
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    statuses = [run.status for run in bench.executions(parent)]
    assert statuses == [
        ExecutionStatus.COMPLETED,
        ExecutionStatus.COMPLETED,
        ExecutionStatus.REFUSED,
    ]
    assert "limits.max_children" in str(bench.results(parent)[2].content)
    assert bench.read(parent.id).use.children == 2


def test_a_tree_is_no_deeper_than_its_root_allows(store: Store) -> None:
    ask = calls(("child", {"task": "deeper"}))
    nested = make_agent(FakeClient(ask, says("Enough.")), delegate_to("child"), name="child")
    bench = Bench(
        store,
        make_parent(FakeClient(ask, says("Done.")), limits=ResolvedLimits(max_depth=1)),
        nested,
    )
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    (child,) = below(bench, parent)
    assert bench.executions(child)[0].status is ExecutionStatus.REFUSED
    assert "limits.max_depth" in str(bench.results(child)[0].content)
    assert bench.read(parent.id).result == "Done."


def test_iterations_are_counted_over_the_tree_and_never_overshot(store: Store) -> None:
    wanted = calls(*[("child", {"task": str(n)}) for n in range(4)])
    limits = ResolvedLimits(max_iterations=4)
    client, children = FakeClient(wanted, says("Done.")), FakeClient(echo)
    bench = Bench(store, make_parent(client, limits=limits), make_agent(children, name="child"))
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    ended = bench.read(parent.id)
    assert len(client.requests) + len(children.requests) <= 4
    assert ended.use.iterations <= 4
    assert ended.error is not None
    assert ended.error.code == "limit"
    assert_valid(bench.messages(parent))


def test_tool_executions_are_counted_over_the_tree(store: Store) -> None:
    def act(_arguments: JsonObject, _context: ToolContext) -> object:
        return "ok"

    tool = FakeTool("act", act)
    child = make_agent(FakeClient(calls(("act", {}), ("act", {})), says("ok")), tool, name="child")
    limits = ResolvedLimits(max_tool_executions=1)
    bench = Bench(
        store,
        make_parent(FakeClient(calls(("child", {"task": "x"})), says("Done.")), limits=limits),
        child,
    )
    parent = bench.submit()

    bench.work_on(parent)
    bench.work_off()

    assert len(tool.calls) == 1
    assert bench.read(parent.id).use.tool_executions == 1
    assert bench.read(parent.id).status is TurnStatus.COMPLETED


def test_a_sub_agent_that_is_gone_is_refused(store: Store) -> None:
    client = FakeClient(calls(("child", {"task": "x"})), says("Nobody there."))
    bench = Bench(store, make_parent(client))

    turn = bench.run()

    assert turn.result == "Nobody there."
    assert "there is no agent 'child'" in str(bench.results(turn)[0].content)
    assert [run.status for run in bench.executions(turn)] == [ExecutionStatus.REFUSED]
    assert turn.tool_executions == 0


def test_a_tree_runs_in_one_process_by_the_same_steps(store: Store) -> None:
    grandchild = make_agent(FakeClient(echo), name="grandchild")
    child = make_agent(
        FakeClient(
            calls(("grandchild", {"task": "Deep."})), says("Child one."), says("Child two.")
        ),
        delegate_to("grandchild"),
        name="child",
    )
    bench = Bench(store, make_parent(FakeClient(TWO, says("All done."))), child, grandchild)

    turn = bench.run_here(bench.order())

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "All done.")
    assert all(each.status is TurnStatus.COMPLETED for each in below(bench, turn))
    assert_valid(bench.messages(turn))


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_worker_that_dies_while_it_fans_out_makes_no_child_twice(
    store: Store, expire_lease: Callable[[str], None], number: int, *, before: bool
) -> None:
    client = FakeClient(TWO, says("Done."))
    child = make_agent(FakeClient(echo), name="child")
    journal = MortalJournal(store.journal, number=number, before=before)
    first = Bench(store, make_parent(client), child, journal=journal)
    second = Bench(store, first.agent, child)
    parent = first.submit()

    died: Sequence[Turn] = ()
    for _ in range(6):
        for turn in store.views.turns(TurnFilter(statuses={TurnStatus.PENDING})):
            first.die_on(turn)
        died = store.views.turns(TurnFilter(statuses={TurnStatus.RUNNING}))
        if died:
            break
    for turn in died:
        expire_lease(turn.id)
        if before and turn.id == parent.id and turn.phase is Phase.MODEL:
            client.put_back()
    store.sweeps.release_expired(limit=10)
    second.work_off()

    assert second.read(parent.id).status is TurnStatus.COMPLETED
    assert len(below(second, parent)) == 2
    assert_valid(second.messages(parent))


def test_a_deadline_that_passes_while_waiting_fails_parent_and_children(
    store: Store, pass_deadline: Callable[[str], None]
) -> None:
    bench = Bench(store, make_parent(FakeClient(TWO)), make_agent(FakeClient(echo), name="child"))
    parent = bench.submit()
    bench.work_on(parent)
    pass_deadline(parent.id)

    bench.sweeper.sweep(quiet=timedelta(0))
    ended = bench.work_on(parent)

    assert ended.error is not None
    assert ended.error.details["path"] == "limits.timeout"
    assert {child.status for child in below(bench, parent)} == {TurnStatus.CANCELLED}
    assert_valid(bench.messages(parent))


def test_the_end_of_a_child_costs_the_same_however_many_there_are(
    store: Store, database: Database
) -> None:
    def cost(number: int) -> int:
        wanted = calls(*[("child", {"task": str(n)}) for n in range(number)])
        limits = ResolvedLimits(max_fan_out=100, max_children=100, max_iterations=200)
        bench = Bench(
            store,
            make_parent(FakeClient(wanted, says("Done.")), limits=limits),
            make_agent(FakeClient(echo), name="child"),
        )
        parent = bench.submit()
        bench.work_on(parent)
        last = below(bench, parent)[-1]
        with counting(database) as counts:
            bench.worker.work_on(last.id)
        bench.work_off()
        assert bench.read(parent.id).result == "Done."
        return counts.statements

    assert cost(2) == cost(60)
