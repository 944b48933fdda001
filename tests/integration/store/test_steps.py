from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from runner.core.cost import MOST, PICODOLLAR, Cost
from runner.core.errors import ClaimLost, InvalidMove, StoreError
from runner.core.ids import new_execution_id
from runner.core.messages import Message, Opaque, Origin, Role, Thinking, ToolCall, ToolResult
from runner.core.model import Usage
from runner.core.records import ClaimedTurn, Committed, ExecutionMove, ToolExecution, TurnError
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    add,
    claim,
    execution,
    kinds,
    message,
    step,
)
from tests.store_helpers import counting

PLANNED, RUNNING = ExecutionStatus.PLANNED, ExecutionStatus.RUNNING
COMPLETED, SKIPPED = ExecutionStatus.COMPLETED, ExecutionStatus.SKIPPED


@pytest.fixture
def claimed(store: Store) -> ClaimedTurn:
    return claim(store, add(store))


def result_of(claimed: ClaimedTurn, run: ToolExecution, seq: int) -> Message:
    answer = ToolResult(call_id=run.call_id, name=run.tool, content={"hits": 3})
    base = message(claimed.turn, claimed.turn.conversation_id)
    return replace(base, seq=seq, role=Role.TOOL, parts=(answer,), execution_id=run.id)


def statuses(store: Store, claimed: ClaimedTurn) -> list[ExecutionStatus]:
    return [run.status for run in store.journal.executions(claimed.turn.id)]


def test_a_step_stores_all_it_changes(store: Store, claimed: ClaimedTurn) -> None:
    write = step(claimed, texts=["Hi."], planned=[execution(claimed.turn, 1)], events=["a", "b"])
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, thinking_tokens=4)
    error = TurnError(code="limit", message="too much", details={"path": "limits.x"})
    turn = replace(
        write.turn,
        phase=Phase.TOOLS,
        iterations=2,
        tool_executions=1,
        attempts=3,
        usage=usage,
        cost=Cost(usd=Decimal("0.000000000007"), unpriced_requests=2),
        result="text",
        output_data={"x": [1]},
        error=error,
    )

    assert store.journal.commit(replace(write, turn=turn)) == Committed()

    assert store.views.turn(turn.id) == turn
    assert [m.text for m in store.journal.transcript(turn.conversation_id)] == ["Hello.", "Hi."]
    assert kinds(store, turn)[-2:] == ["a", "b"]
    assert statuses(store, claimed) == [PLANNED]


@pytest.mark.parametrize(
    "usd",
    [
        pytest.param(MOST, id="the-most-there-can-be"),
        pytest.param(MOST - PICODOLLAR, id="all-digits-there-can-be"),
        pytest.param(Decimal("0.1") + Decimal("0.2"), id="a-sum-that-floats-get-wrong"),
    ],
)
def test_an_amount_of_money_comes_back_exactly(
    store: Store, claimed: ClaimedTurn, usd: Decimal
) -> None:
    write = step(claimed)

    store.journal.commit(replace(write, turn=replace(write.turn, cost=Cost(usd=usd))))

    assert store.views.turn(claimed.turn.id).cost == Cost(usd=usd)


def test_messages_come_back_as_they_were_written(store: Store, claimed: ClaimedTurn) -> None:
    parts = (
        Thinking(text="", extra={"signature": "s"}),
        Opaque(block={"type": "redacted_thinking", "data": "d"}),
        ToolCall(call_id="call_1", name="search", arguments={"q": "ü"}, extra={"n": 1.5}),
    )
    origin = Origin(provider="anthropic", model="m", prefix="p")
    base = message(claimed.turn, claimed.turn.conversation_id)
    answer = replace(base, seq=2, role=Role.ASSISTANT, parts=parts, origin=origin)
    run = execution(claimed.turn, 1, COMPLETED)
    result = result_of(claimed, run, 3)

    write = replace(step(claimed, planned=[run]), messages=[answer, result])
    store.journal.commit(write)

    stored = store.journal.transcript(claimed.turn.conversation_id)[1:]
    assert [replace(m, created_at=None) for m in stored] == [answer, result]
    assert all(m.created_at for m in stored)


def test_a_step_is_written_once(store: Store, claimed: ClaimedTurn) -> None:
    store.journal.commit(step(claimed, texts=["Hi."]))

    with pytest.raises(ClaimLost):
        store.journal.commit(step(claimed, texts=["Hi."]))

    assert len(store.journal.transcript(claimed.turn.conversation_id)) == 2


def test_executions_move_from_planned_over_running_to_their_end(
    store: Store, claimed: ClaimedTurn
) -> None:
    first, second = execution(claimed.turn, 1), execution(claimed.turn, 2)
    store.journal.commit(step(claimed, planned=[second, first]))
    store.journal.commit(
        step(claimed, number=2, moves=[ExecutionMove(id=first.id, status=RUNNING)])
    )
    store.journal.commit(
        step(
            claimed,
            number=3,
            moves=[
                ExecutionMove(id=first.id, status=COMPLETED),
                ExecutionMove(id=second.id, status=RUNNING),
            ],
        )
    )

    one, two = store.journal.executions(claimed.turn.id)

    assert (one.id, one.status, one.fence) == (first.id, COMPLETED, 1)
    assert one.started_at is not None
    assert one.ended_at is not None
    assert one.ended_at >= one.started_at
    assert (two.id, two.status, two.fence, two.ended_at) == (second.id, RUNNING, 1, None)
    assert store.views.tool_executions(claimed.turn.id) == [one, two]


@pytest.mark.parametrize(
    ("status", "fence", "has_started", "has_ended"),
    [
        pytest.param(PLANNED, None, False, False, id="planned"),
        pytest.param(RUNNING, 1, True, False, id="marked-running-at-once"),
        pytest.param(ExecutionStatus.REFUSED, None, False, True, id="refused-at-once"),
    ],
)
def test_an_execution_may_be_stored_in_any_status(
    store: Store,
    claimed: ClaimedTurn,
    status: ExecutionStatus,
    fence: int | None,
    *,
    has_started: bool,
    has_ended: bool,
) -> None:
    store.journal.commit(step(claimed, planned=[execution(claimed.turn, 1, status)]))

    [run] = store.journal.executions(claimed.turn.id)

    assert (run.status, run.fence) == (status, fence)
    assert (run.started_at is not None, run.ended_at is not None) == (has_started, has_ended)


def test_a_marked_execution_that_has_not_begun_may_be_planned_again(
    store: Store, claimed: ClaimedTurn
) -> None:
    run = execution(claimed.turn, 1, RUNNING)
    store.journal.commit(step(claimed, planned=[run]))

    store.journal.commit(
        step(
            claimed,
            number=2,
            status=TurnStatus.PENDING,
            moves=[ExecutionMove(id=run.id, status=PLANNED)],
        )
    )

    [again] = store.journal.executions(claimed.turn.id)
    assert (again.status, again.fence, again.started_at) == (PLANNED, None, None)


def test_an_execution_marked_under_an_earlier_claim_is_not_planned_again(
    store: Store, claimed: ClaimedTurn
) -> None:
    run = execution(claimed.turn, 1, RUNNING)
    store.journal.commit(step(claimed, planned=[run], status=TurnStatus.PENDING))
    second = claim(store, claimed.turn)

    with pytest.raises(InvalidMove):
        store.journal.commit(
            step(second, number=2, moves=[ExecutionMove(id=run.id, status=PLANNED)])
        )


@pytest.mark.parametrize(
    ("stored", "to"),
    [
        pytest.param(COMPLETED, RUNNING, id="an-ended-one-does-not-run"),
        pytest.param(COMPLETED, SKIPPED, id="an-ended-one-does-not-end-again"),
        pytest.param(RUNNING, RUNNING, id="a-running-one-is-not-marked-twice"),
    ],
)
def test_an_impossible_move_of_an_execution_writes_nothing(
    store: Store, claimed: ClaimedTurn, stored: ExecutionStatus, to: ExecutionStatus
) -> None:
    run = execution(claimed.turn, 1, stored)
    store.journal.commit(step(claimed, planned=[run]))

    with pytest.raises(InvalidMove):
        store.journal.commit(
            step(claimed, number=2, texts=["Hi."], moves=[ExecutionMove(id=run.id, status=to)])
        )

    assert statuses(store, claimed) == [stored]
    assert store.views.turn(claimed.turn.id).step == 1


def test_an_execution_of_another_turn_is_not_moved(store: Store, claimed: ClaimedTurn) -> None:
    other = claim(store, add(store))
    run = execution(other.turn, 1)
    store.journal.commit(step(other, planned=[run]))

    with pytest.raises(InvalidMove):
        store.journal.commit(step(claimed, moves=[ExecutionMove(id=run.id, status=RUNNING)]))


def test_an_unknown_execution_is_not_moved(store: Store, claimed: ClaimedTurn) -> None:
    with pytest.raises(InvalidMove):
        store.journal.commit(
            step(claimed, moves=[ExecutionMove(id=new_execution_id(), status=RUNNING)])
        )


def test_a_call_has_one_execution(store: Store, claimed: ClaimedTurn) -> None:
    twice = [execution(claimed.turn, 1), replace(execution(claimed.turn, 2), call_id="call_1")]

    with pytest.raises(StoreError):
        store.journal.commit(step(claimed, planned=twice))

    assert store.views.turn(claimed.turn.id).step == 0


def test_an_execution_has_one_result(store: Store, claimed: ClaimedTurn) -> None:
    run = execution(claimed.turn, 1, COMPLETED)
    results = [result_of(claimed, run, 2), result_of(claimed, run, 3)]

    with pytest.raises(StoreError):
        store.journal.commit(replace(step(claimed, planned=[run]), messages=results))


def test_a_place_in_a_conversation_is_taken_once(store: Store, claimed: ClaimedTurn) -> None:
    with pytest.raises(StoreError):
        store.journal.commit(step(claimed, texts=["Again."], first_seq=1))


@pytest.mark.parametrize(
    "status", [status for status in TurnStatus if status.is_ended], ids=lambda s: s.value
)
def test_a_turn_that_ends_lets_go_of_its_claim(
    store: Store, claimed: ClaimedTurn, status: TurnStatus
) -> None:
    store.journal.commit(step(claimed, status=status))

    turn = store.views.turn(claimed.turn.id)

    assert (turn.status, turn.worker_id, turn.lease_expires_at) == (status, None, None)
    assert turn.ended_at is not None


def test_a_paused_turn_holds_no_claim_and_is_not_due(store: Store, claimed: ClaimedTurn) -> None:
    store.journal.commit(step(claimed, status=TurnStatus.PAUSED))

    assert store.views.turn(claimed.turn.id).worker_id is None
    assert list(store.sweeps.due(limit=9, quiet=timedelta(0))) == []
    assert store.journal.claim(claimed.turn.id, ADA, lease=LEASE) is None


def test_a_turn_cannot_be_written_back_to_prepared(store: Store, claimed: ClaimedTurn) -> None:
    with pytest.raises(InvalidMove, match="a running turn cannot become prepared"):
        store.journal.commit(step(claimed, status=TurnStatus.PREPARED))


def test_a_turn_that_ends_names_the_next_of_its_lane(store: Store, claimed: ClaimedTurn) -> None:
    following = add(store, claimed.turn.conversation_id)
    add(store, claimed.turn.conversation_id)

    committed = store.journal.commit(step(claimed, status=TurnStatus.FAILED))

    assert committed.wake == (following.id,)


def test_a_turn_that_ends_last_in_its_lane_names_none(store: Store, claimed: ClaimedTurn) -> None:
    add(store, claimed.turn.conversation_id, status=TurnStatus.PREPARED)

    assert store.journal.commit(step(claimed, status=TurnStatus.COMPLETED)).wake == ()


def test_a_step_takes_at_most_four_statements_and_one_commit(
    store: Store, claimed: ClaimedTurn
) -> None:
    runs = [execution(claimed.turn, number) for number in range(1, 6)]
    plan = step(claimed, texts=["a", "b", "c"], planned=runs, events=["x"] * 7)
    moves = [ExecutionMove(id=run.id, status=SKIPPED) for run in runs]
    close = step(claimed, number=2, texts=["d"], first_seq=5, moves=moves, events=["y"] * 3)

    with counting(store.database) as counts:
        store.journal.commit(plan)
        store.journal.commit(close)

    assert counts.statements == 8
    assert counts.commits == 2


def test_what_a_step_executes_does_not_grow_with_the_conversation(
    store: Store, claimed: ClaimedTurn
) -> None:
    with counting(store.database) as early:
        store.journal.commit(step(claimed, texts=["a"], events=["x"]))
    for number in range(2, 60):
        store.journal.commit(step(claimed, number=number, texts=["a"], first_seq=number + 1))

    with counting(store.database) as late:
        store.journal.commit(step(claimed, number=60, texts=["a"], first_seq=61, events=["x"]))

    assert early.texts == late.texts
