"""Many at once: children of one parent, and senders of one message."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import ModelRequest, ModelResponse
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.definitions.snapshot import ResolvedLimits
from runner.store.database import Database, open_database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.integration.engine.bench import Bench
from tests.integration.engine.trees import make_parent
from tests.racing import race
from tests.store_helpers import counting

_THREADS = 8


def echo(request: ModelRequest) -> ModelResponse:
    return says(f"Did {request.messages[0].text}.")


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    database = open_database(postgres_url, pool_size=_THREADS + 2)
    yield database
    database.close()


def statements_to_end(bench: Bench, child: Turn) -> int:
    """Return how many statements the whole life of a child takes."""
    with counting(bench.store.database) as counts:
        bench.work_on(child)
    return counts.statements


@pytest.mark.parametrize(
    "number", [200, pytest.param(1000, marks=pytest.mark.crash)], ids=["200", "1000"]
)
def test_a_parent_joins_all_its_children_in_the_order_of_its_calls(
    postgres: Database, number: int
) -> None:
    limits = ResolvedLimits(
        max_iterations=2 * number,
        max_tool_executions=number,
        max_children=number,
        max_fan_out=number,
    )
    tasks: list[tuple[str, JsonObject]] = [("child", {"task": str(i)}) for i in range(number)]
    client = FakeClient(calls(*tasks), says("All done."))
    store = Store.over(postgres)
    bench = Bench(
        store, make_parent(client, limits=limits), make_agent(FakeClient(echo), name="child")
    )
    parent = bench.submit()
    bench.work_on(parent)
    first, *others, last = [t for t in store.views.tree(parent.id) if t.id != parent.id]

    before = statements_to_end(bench, first)
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(bench.work_on, reversed(others)))
    after = statements_to_end(bench, last)
    bench.work_off()

    ended = bench.read(parent.id)
    assert (ended.status, ended.result) == (TurnStatus.COMPLETED, "All done.")
    results = [result.content["result"] for result in bench.results(parent)]
    assert results == [f"Did {i}." for i in range(number)]
    assert ended.use.children == number
    assert after <= before + 1  # the last one also wakes the parent
    assert list(store.audit.findings(limit=10)) == []


def test_a_message_that_many_deliver_at_once_arrives_once(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Done."))))
    turn = bench.run()

    send = partial(
        bench.courier.send,
        key="k",
        sender=None,
        destination=turn.conversation_id,
        text="Hello.",
    )

    delivered = race([send] * 20)
    bench.work_off()

    [stored] = store.deliveries.inbox(turn.conversation_id)
    assert {delivery.id for delivery in delivered} == {stored.id}
    assert bench.read(stored.turn_id).status is TurnStatus.COMPLETED
    said = [message.role for message in bench.messages(turn)]
    assert said.count(Role.USER) == said.count(Role.ASSISTANT) == 2
