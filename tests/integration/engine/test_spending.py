"""What turns spend on models: kept with every answer, whatever becomes of the turn."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import reduce
from operator import add

import pytest

from runner.core.coordination import Reach
from runner.core.cost import Cost
from runner.core.errors import ModelRejected
from runner.core.model import ModelResponse, StopReason, Usage
from runner.core.states import TurnStatus
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, respond, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench
from tests.integration.engine.trees import make_parent
from tests.store_helpers import counting, expire_lease

ACT = calls(("act", {}))


def at(usd: str | None, response: ModelResponse) -> ModelResponse:
    """Give an answer its cost."""
    return replace(response, cost=None if usd is None else Decimal(usd))


def make_bench(store: Store, *answers: ModelResponse | Exception) -> Bench:
    return Bench(store, make_agent(FakeClient(*answers), FakeTool("act")))


def test_each_answer_is_charged_at_the_price_of_its_moment(store: Store) -> None:
    bench = make_bench(store, at("0.1", ACT), at("0.2", says("Done.")))

    turn = bench.run()

    assert bench.read(turn.id).cost == Cost(usd=Decimal("0.3"))
    events = store.views.events(turn.id)
    answered = [event.body for event in events if event.kind == "model.responded"]
    assert [body["cost"] for body in answered] == ["0.1", "0.2"]


def test_the_event_of_an_answer_has_its_usage(store: Store) -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 4,
        "cache_read_tokens": 3,
        "cache_write_tokens": 2,
        "thinking_tokens": 1,
    }
    bench = make_bench(store, at(None, says("Done.", **usage)))

    turn = bench.run()

    [body] = [e.body for e in store.views.events(turn.id) if e.kind == "model.responded"]
    assert {key: body[key] for key in usage} == usage
    assert body["cost"] is None
    assert bench.read(turn.id).usage == Usage(**usage)


def test_an_answer_without_a_price_is_counted(store: Store) -> None:
    bench = make_bench(store, at("0.1", ACT), at(None, ACT), at(None, says("Done.")))

    turn = bench.run()

    assert turn.cost == Cost(usd=Decimal("0.1"), unpriced_requests=2)
    last = store.views.events(turn.id)[-1]
    assert (last.kind, last.body["cost"], last.body["unpriced_requests"]) == (
        "turn.completed",
        "0.1",
        2,
    )


@pytest.mark.parametrize(
    "stop_reason", [StopReason.REFUSAL, StopReason.MAX_TOKENS, StopReason.CONTEXT_FULL]
)
def test_an_answer_that_fails_the_turn_is_paid_for(store: Store, stop_reason: StopReason) -> None:
    bench = make_bench(store, at("0.1", ACT), at("0.02", respond([], stop_reason)))

    turn = bench.run()

    assert (turn.status, turn.cost) == (TurnStatus.FAILED, Cost(usd=Decimal("0.12")))
    assert store.views.events(turn.id)[-1].body["cost"] == "0.12"


def test_what_was_paid_before_the_turn_failed_is_kept(store: Store) -> None:
    bench = make_bench(store, at("0.1", ACT), ModelRejected("no"))

    turn = bench.run()

    assert (turn.status, turn.cost) == (TurnStatus.FAILED, Cost(usd=Decimal("0.1")))


def test_what_was_paid_before_the_turn_was_cancelled_is_kept(store: Store) -> None:
    agent = make_agent(FakeClient(at("0.1", ACT), says("Too late.")), FakeTool("act"))
    mortal = Bench(store, agent, journal=MortalJournal(store.journal, number=2, before=True))
    turn = mortal.submit()
    mortal.die_on(turn)
    survivor = Bench(store, agent)

    survivor.control.cancel(turn.id, reach=Reach.CASCADE)
    survivor.work_off()

    cancelled = survivor.read(turn.id)
    assert (cancelled.status, cancelled.cost) == (TurnStatus.CANCELLED, Cost(usd=Decimal("0.1")))


def test_an_answer_is_paid_for_once_though_its_worker_dies(
    store: Store, database: Database
) -> None:
    agent = make_agent(FakeClient(at("0.1", ACT), at("0.2", says("Done."))), FakeTool("act"))
    mortal = Bench(store, agent, journal=MortalJournal(store.journal, number=1, before=False))
    turn = mortal.submit()
    mortal.die_on(turn)
    expire_lease(database, turn.id)
    survivor = Bench(store, agent)

    survivor.sweeper.sweep(quiet=timedelta(0))
    survivor.work_off()

    assert survivor.read(turn.id).cost == Cost(usd=Decimal("0.3"))


def test_a_tree_costs_what_its_turns_cost(store: Store) -> None:
    two = calls(("child", {"task": "One."}), ("child", {"task": "Two."}))
    parent = make_parent(FakeClient(at("0.1", two), at("0.2", says("Both done."))))
    child = make_agent(FakeClient(at("0.03", says("Did it."))), name="child")
    bench = Bench(store, parent, child)
    turn = bench.submit()

    bench.work_off()

    tree = store.views.tree(turn.id)
    assert [each.cost.usd for each in tree] == [Decimal("0.3"), Decimal("0.03"), Decimal("0.03")]
    assert reduce(add, (each.cost for each in tree)) == Cost(usd=Decimal("0.36"))
    assert store.views.costs([turn.id]) == {turn.id: Cost(usd=Decimal("0.36"))}


def test_keeping_the_cost_takes_no_statement_of_its_own(store: Store, database: Database) -> None:
    """An answer is recorded by the same few statements however much it cost."""
    free = make_bench(store, at("0", ACT), at("0", says("Done.")))
    dear = make_bench(store, at("0.1", ACT), at("0.2", says("Done.")))
    turns = [bench.submit() for bench in (free, dear)]

    with counting(database) as without:
        free.worker.work_on(turns[0].id)
    with counting(database) as with_cost:
        dear.worker.work_on(turns[1].id)

    assert (with_cost.statements, with_cost.commits) == (without.statements, without.commits)
    writing = [text for text in with_cost.texts if "cost=" in text.replace(" ", "")]
    assert all(text.startswith("UPDATE turns SET") and "usage" in text for text in writing)
    assert len(writing) == with_cost.commits - 1
