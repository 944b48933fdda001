"""What steering costs: input that keeps a turn going takes a model request like any other."""

from runner.core.records import StepWrite
from runner.core.states import TurnStatus
from runner.definitions.snapshot import ResolvedLimits
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, says
from tests.fakes.journal import MortalJournal
from tests.integration.engine.bench import Bench


def steered_at_its_end(store: Store, limits: ResolvedLimits) -> tuple[Bench, FakeClient]:
    """Return a bench whose turns are steered while their first step is on its way to the store."""
    client = FakeClient(says("First."), says("Second."))
    journal = MortalJournal(store.journal)
    bench = Bench(store, make_agent(client, limits=limits), journal=journal)

    def steer(write: StepWrite) -> None:
        bench.control.steer(write.turn.id, key="k", text="One more thing.")

    journal.on_commit = steer
    return bench, client


def test_an_answer_to_late_input_is_a_request_of_its_own(store: Store) -> None:
    bench, client = steered_at_its_end(store, ResolvedLimits())

    ended = bench.run()

    assert ended.result == "Second."
    assert len(client.requests) == 2
    assert ended.iterations == ended.use.iterations == 2


def test_late_input_does_not_get_a_turn_past_its_limit(store: Store) -> None:
    bench, client = steered_at_its_end(store, ResolvedLimits(max_iterations=1))

    ended = bench.run()

    assert ended.status is TurnStatus.FAILED
    assert ended.error is not None
    assert ended.error.details["path"] == "limits.max_iterations"
    assert len(client.requests) == 1
    assert [message.text for message in bench.messages(ended)][-1] == "One more thing."
