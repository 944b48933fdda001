"""What becomes of a turn whose model does not answer."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread

import pytest

from runner.core.errors import (
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.states import TurnStatus
from runner.definitions.snapshot import ResolvedLimits
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, Stall, calls, says
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench, assert_valid

BUSY = ModelUnavailable("overloaded", retry_after=0.01)
CUT = ModelTransport("the stream was cut")


@pytest.mark.parametrize("error", [BUSY, CUT], ids=["busy", "cut"])
def test_what_may_pass_is_tried_again_and_shown(store: Store, error: ModelError) -> None:
    client = FakeClient(error, error, says("Here."))
    bench = Bench(store, make_agent(client))

    turn = bench.run()

    assert turn.result == "Here."
    assert turn.attempts == 0
    assert bench.kinds(turn).count("model.retried") == 2
    assert len({id(request) for request in client.requests}) == 1


def test_what_never_passes_fails_after_a_bounded_number_of_attempts(store: Store) -> None:
    client = FakeClient(BUSY, max_attempts=3)
    bench = Bench(store, make_agent(client))

    turn = bench.run()

    assert turn.error is not None
    assert turn.error.code == "model_unavailable"
    assert "3 times" in turn.error.message
    assert len(client.requests) == 3


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(ModelRejected("bad request", request_id="r9"), "model_rejected", id="bad"),
        pytest.param(ModelAccessDenied("no key"), "model_access_denied", id="no-key"),
        pytest.param(PromptTooLong("too long"), "prompt_too_long", id="too-long"),
    ],
)
def test_what_cannot_pass_fails_at_once_and_the_conversation_stays_usable(
    store: Store, error: ModelError, code: str
) -> None:
    client = FakeClient(error, says("Better."))
    bench = Bench(store, make_agent(client))

    turn = bench.run()
    later = bench.run("Try this.", after=turn)

    assert turn.error is not None
    assert (turn.status, turn.error.code) == (TurnStatus.FAILED, code)
    assert turn.error.details.get("request_id") == error.request_id
    assert later.result == "Better."
    assert len(client.requests) == 2


def test_a_long_wait_is_spent_in_the_database(
    store: Store, make_due: Callable[[str], None]
) -> None:
    client = FakeClient(ModelUnavailable("later", retry_after=3600), says("Here."))
    bench = Bench(store, make_agent(client))
    turn = bench.submit()

    parked = bench.work_on(turn)

    assert parked.status is TurnStatus.PENDING
    assert parked.not_before is not None
    assert parked.attempts == 1
    assert not bench.worker.work_on(turn.id)
    assert turn.id not in store.sweeps.due(limit=10, quiet=timedelta(0))
    make_due(turn.id)
    assert turn.id in store.sweeps.due(limit=10, quiet=timedelta(0))
    assert bench.work_on(turn).result == "Here."


def test_a_call_that_outlasts_the_deadline_is_given_up_and_names_the_limit(store: Store) -> None:
    stall = Stall()
    limits = ResolvedLimits(timeout=timedelta(seconds=1))
    bench = Bench(store, make_agent(FakeClient(stall), limits=limits))

    turn = bench.run()

    assert stall.begun.is_set()
    assert turn.error is not None
    assert turn.error.code == "limit"
    assert turn.error.message == "limits.timeout: the turn's time of 1s is over"


def test_a_deadline_that_passed_while_queued_fails_the_turn(
    store: Store, pass_deadline: Callable[[str], None]
) -> None:
    client = FakeClient(says("Too late."))
    bench = Bench(store, make_agent(client))
    turn = bench.submit()
    pass_deadline(turn.id)

    store.sweeps.fail_overdue(limit=10)

    turn = bench.read(turn.id)
    assert turn.error is not None
    assert (turn.error.code, turn.error.details["path"]) == ("limit", "limits.timeout")
    assert not client.requests


def test_a_deadline_that_passed_between_tools_answers_the_open_calls(
    store: Store, pass_deadline: Callable[[str], None]
) -> None:
    client = FakeClient(calls(("act", {}), ("act", {})))
    bench = Bench(
        store, make_agent(client, FakeTool("act")), slice_length=timedelta(microseconds=1)
    )
    turn = bench.submit()
    bench.work_on(turn)
    pass_deadline(turn.id)

    turn = bench.work_on(turn)

    assert turn.error is not None
    assert turn.error.code == "limit"
    assert_valid(bench.messages(turn))
    assert len(bench.results(turn)) == 2


def test_a_turn_whose_claim_is_lost_during_a_call_stores_nothing_of_it(
    store: Store, expire_lease: Callable[[str], None]
) -> None:
    stall = Stall()
    agent = make_agent(FakeClient(stall, says("Mine.")))
    slow, quick = Bench(store, agent), Bench(store, agent)
    turn = slow.submit()
    thread = Thread(target=slow.worker.work_on, args=(turn.id,))
    thread.start()
    assert stall.begun.wait(60)

    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)
    slow.heartbeat.beat()
    thread.join(60)

    assert not thread.is_alive()
    assert slow.read(turn.id).status is TurnStatus.PENDING
    assert quick.work_on(turn).result == "Mine."


def test_a_call_far_longer_than_a_lease_keeps_its_claim(store: Store) -> None:
    stall = Stall()
    bench = Bench(store, make_agent(FakeClient(stall, says("Here."))))
    another = Bench(store, bench.agent)
    turn = bench.submit()
    thread = Thread(target=bench.worker.work_on, args=(turn.id,))
    thread.start()
    assert stall.begun.wait(60)
    before = bench.read(turn.id).lease_expires_at

    bench.heartbeat.beat()

    after = bench.read(turn.id).lease_expires_at
    assert before is not None
    assert after is not None
    assert after >= before
    bench.heartbeat.ask_back(at_once=True)
    thread.join(60)
    assert another.work_on(turn).result == "Here."
