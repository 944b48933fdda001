"""What becomes of a turn whose worker dies, is stopped, or loses its claim."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from runner.core.coordination import Reach
from runner.core.errors import ClaimLost, ConfigError
from runner.core.jsonvalue import JsonObject
from runner.core.records import ClaimedTurn, StepWrite
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.runtime.agent import Agent
from runner.store.codec import parts_to_json
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import LEASE, Bench, assert_valid

Expire = Callable[[str], None]

#: Three tool calls and three requests make six commits after the claim.
COMMITS = 6


def make_world(recovery: Recovery) -> tuple[FakeClient, FakeTool, Agent]:
    """An agent that is asked three times and calls a tool three times, whoever runs it."""

    def act(arguments: JsonObject, _context: ToolContext) -> object:
        return {"n": arguments["n"]}

    tool = FakeTool("act", act, rules=ToolRules(recovery=recovery))
    client = FakeClient(
        calls(("act", {"n": 1}), ("act", {"n": 2}), prefix="a"),
        calls(("act", {"n": 3}), prefix="b"),
        says("Done."),
    )
    return client, tool, make_agent(client, tool)


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("number", range(1, COMMITS + 1))
def test_a_worker_that_dies_at_any_commit_loses_nothing_and_repeats_no_effect(
    store: Store, expire_lease: Expire, number: int, *, before: bool
) -> None:
    client, tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal, number=number, before=before)
    first, second = Bench(store, agent, journal=journal), Bench(store, agent)
    turn = first.submit()

    first.die_on(turn)
    requests_before = len(client.requests)
    if not first.read(turn.id).status.is_ended:
        expire_lease(turn.id)
        assert list(store.sweeps.release_expired(limit=10)) == [turn.id]
        # A request whose answer was not committed is made again with the same transcript.
        if before and client.requests and first.read(turn.id).phase is Phase.MODEL:
            client.put_back()
        turn = second.work_on(turn)
    turn = second.read(turn.id)

    assert turn.status is TurnStatus.COMPLETED
    assert_valid(second.messages(turn))
    effects = [call["n"] for call in tool.calls]
    assert len(set(effects)) == len(effects), "an effect was repeated"
    interrupted = [
        run for run in second.executions(turn) if run.status is ExecutionStatus.INTERRUPTED
    ]
    assert len(interrupted) <= 1
    assert len(client.requests) - requests_before <= COMMITS


@pytest.mark.parametrize("number", range(1, COMMITS + 1))
def test_a_replay_safe_tool_runs_again_with_the_same_key(
    store: Store, expire_lease: Expire, number: int
) -> None:
    client, tool, agent = make_world(Recovery.REPLAY_SAFE)
    journal = MortalJournal(store.journal, number=number, before=True)
    first, second = Bench(store, agent, journal=journal), Bench(store, agent)
    turn = first.submit()

    first.die_on(turn)
    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)
    if first.read(turn.id).phase is Phase.MODEL:
        client.put_back()
    turn = second.work_on(turn)

    assert turn.result == "Done."
    assert [run.status for run in second.executions(turn)] == [ExecutionStatus.COMPLETED] * 3
    assert len(set(tool.keys)) == 3
    assert turn.tool_executions == 3


def test_a_worker_whose_claim_was_taken_over_writes_nothing_more(
    store: Store, expire_lease: Expire
) -> None:
    _client, tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal)
    slow, quick = Bench(store, agent, journal=journal), Bench(store, agent)
    turn = slow.submit()

    def overtake(write: StepWrite) -> None:
        if write.turn.step == 2 and write.claim.fence == 1:
            expire_lease(turn.id)
            store.sweeps.release_expired(limit=10)
            quick.work_on(turn)

    journal.on_commit = overtake
    slow.worker.work_on(turn.id)

    turn = quick.read(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert turn.fence == 2
    assert [call["n"] for call in tool.calls] == [1, 2, 3]
    statuses = [run.status for run in quick.executions(turn)]
    assert statuses == [
        ExecutionStatus.INTERRUPTED,
        ExecutionStatus.COMPLETED,
        ExecutionStatus.COMPLETED,
    ]
    assert_valid(quick.messages(turn))


def test_a_turn_that_keeps_killing_its_workers_is_given_up(
    store: Store, expire_lease: Expire
) -> None:
    client, _tool, agent = make_world(Recovery.REPLAY_SAFE)
    turn = Bench(store, agent).submit()

    for _ in range(3):
        journal = MortalJournal(store.journal, number=1, before=True)
        Bench(store, agent, journal=journal, max_claims=3).die_on(turn)
        expire_lease(turn.id)
        store.sweeps.release_expired(limit=10)
    last = Bench(store, agent, max_claims=3)
    turn = last.work_on(turn)

    assert turn.error is not None
    assert (turn.status, turn.error.code) == (TurnStatus.FAILED, "poisoned")
    assert len(client.requests) == 3
    assert last.run("And now?", after=turn).status is not TurnStatus.PENDING


def test_a_turn_handed_back_between_steps_has_begun_none_of_its_calls(store: Store) -> None:
    _client, tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal)
    leaving, staying = Bench(store, agent, journal=journal), Bench(store, agent)
    turn = leaving.submit()
    journal.on_commit = lambda _write: leaving.heartbeat.ask_back(at_once=False)

    handed_back = leaving.work_on(turn)

    assert handed_back.status is TurnStatus.PENDING
    assert not tool.calls
    assert [run.status for run in leaving.executions(turn)] == [
        ExecutionStatus.READY,
        ExecutionStatus.PLANNED,
    ]
    finished = staying.work_on(turn)
    assert finished.result == "Done."
    assert finished.tool_executions == 3
    assert [run.status for run in staying.executions(turn)] == [ExecutionStatus.COMPLETED] * 3


def test_a_call_given_up_half_way_has_an_unknown_outcome(store: Store) -> None:
    leaving: Bench

    def act(_arguments: JsonObject, _context: ToolContext) -> object:
        leaving.heartbeat.ask_back(at_once=True)
        raise AssertionError("the answer of a call given up is of no use")

    client = FakeClient(calls(("act", {})), says("I do not know."))
    leaving = Bench(store, make_agent(client, FakeTool("act", act)))
    turn = leaving.submit()

    leaving.work_on(turn)
    finished = Bench(store, leaving.agent).work_on(turn)

    assert finished.result == "I do not know."
    (run,) = leaving.executions(turn)
    assert run.status in {ExecutionStatus.INTERRUPTED, ExecutionStatus.FAILED}


def test_a_slice_ends_at_a_step_and_the_turn_goes_on(store: Store) -> None:
    _client, tool, agent = make_world(Recovery.UNKNOWN)
    bench = Bench(store, agent, slice_length=timedelta(microseconds=1))
    turn = bench.submit()

    rounds = 0
    while not bench.read(turn.id).status.is_ended:
        rounds += 1
        bench.worker.work_on(turn.id)

    assert bench.read(turn.id).result == "Done."
    assert rounds == COMMITS
    assert [call["n"] for call in tool.calls] == [1, 2, 3]
    assert bench.dispatcher.sent == [turn.id] * (COMMITS - 1)


def test_an_inline_turn_whose_claim_is_lost_says_so(store: Store, expire_lease: Expire) -> None:
    client, _tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal)
    bench = Bench(store, agent, journal=journal)

    def take(write: StepWrite) -> None:
        expire_lease(write.turn.id)
        store.sweeps.release_expired(limit=10)

    journal.on_commit = take
    turn = bench.reception.start(bench.order(), bench.worker_id, lease=LEASE)
    with pytest.raises(ClaimLost):
        bench.inline.run(
            ClaimedTurn.of(turn, bench.worker_id, seconds_left=60), since=bench.clock.monotonic()
        )
    journal.on_commit = lambda _write: None
    client.put_back()
    bench.control.resume(turn.id, reach=Reach.RETAIN)
    assert bench.work_on(turn).status is TurnStatus.COMPLETED


FAULTS = [ConfigError("there is no function 'act'"), ValueError("from another version")]


@pytest.mark.parametrize("fault", FAULTS, ids=["refused", "unreadable"])
def test_a_turn_whose_agent_cannot_be_brought_to_life_waits_for_a_worker_that_can(
    store: Store, make_due: Expire, fault: Exception
) -> None:
    _client, _tool, agent = make_world(Recovery.UNKNOWN)
    unfit, fit = Bench(store, agent, max_claims=2), Bench(store, agent, max_claims=2)
    unfit.fault = fault
    turn = unfit.submit()

    for _ in range(4):
        make_due(turn.id)
        turn = unfit.work_on(turn)
        assert turn.status is TurnStatus.PENDING
        assert turn.not_before is not None
    make_due(turn.id)

    assert fit.work_on(turn).result == "Done."


def test_a_turn_whose_messages_cannot_be_read_here_waits_for_a_worker_that_can(
    store: Store, database: Database, make_due: Expire
) -> None:
    _client, _tool, agent = make_world(Recovery.UNKNOWN)
    bench = Bench(store, agent)
    turn = bench.submit()
    parts = bench.messages(turn)[0].parts
    write = text("UPDATE messages SET parts = :parts WHERE turn_id = :turn")
    unknown = {"parts": json.dumps([{"type": "from_another_version"}]), "turn": turn.id}
    database.write(lambda connection: connection.execute(write, unknown))

    put_off = bench.work_on(turn)

    assert (put_off.status, put_off.not_before is None) == (TurnStatus.PENDING, False)
    known = {"parts": parts_to_json(parts), "turn": turn.id}
    database.write(lambda connection: connection.execute(write, known))
    make_due(turn.id)
    assert bench.work_on(turn).result == "Done."


def test_a_database_that_is_away_is_waited_for_while_the_claim_is_held(
    store: Store, expire_lease: Expire
) -> None:
    _client, _tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal)
    bench = Bench(store, agent, journal=journal)
    turn = bench.submit()
    insisted: list[bool] = []

    def lose_the_claim(_write: StepWrite) -> None:
        insisted.append(journal.insist())
        expire_lease(turn.id)
        store.sweeps.release_expired(limit=10)
        bench.heartbeat.beat()
        insisted.append(journal.insist())

    journal.on_commit = lose_the_claim
    bench.work_on(turn)

    assert insisted == [True, False]


@pytest.mark.parametrize("fault", FAULTS, ids=["refused", "unreadable"])
def test_a_turn_whose_agent_is_never_brought_to_life_ends_with_its_time(
    store: Store, expire_lease: Expire, pass_deadline: Expire, fault: Exception
) -> None:
    client, tool, agent = make_world(Recovery.UNKNOWN)
    journal = MortalJournal(store.journal, number=2)
    dying, unfit = Bench(store, agent, journal=journal), Bench(store, agent)
    unfit.fault = fault
    turn = dying.submit()
    later = unfit.submit("And now?", after=turn)
    dying.die_on(turn)
    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)
    pass_deadline(turn.id)

    turn = unfit.work_on(turn)

    assert turn.status is TurnStatus.FAILED
    assert turn.error is not None
    assert (turn.error.code, str(fault) in turn.error.message) == ("agent_unavailable", True)
    assert_valid(unfit.messages(turn))
    assert (len(client.requests), len(tool.calls)) == (1, 1)
    assert unfit.dispatcher.sent == [later.id]
