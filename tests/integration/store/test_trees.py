"""Turns below others: launched with a step or by themselves, within the limits of their tree."""

from dataclasses import replace
from datetime import timedelta

import pytest

from runner.core.coordination import Reach
from runner.core.errors import (
    ClaimLost,
    InvalidMove,
    LimitReached,
    NotFound,
    UsageError,
)
from runner.core.ids import TurnId, new_execution_id, turn_id_of
from runner.core.records import ClaimedTurn, ExecutionMove
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tree import Place, Reservation, TreeLimits, TreeUse
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    add,
    child_of,
    claim,
    end,
    execution,
    kinds,
    launching,
    new_turn,
    step,
)
from tests.store_helpers import counting

LIMITS = TreeLimits(
    max_iterations=5,
    max_tool_executions=4,
    max_tool_executions_by_name={"search": 2},
    max_children=3,
)


@pytest.fixture
def root(store: Store) -> ClaimedTurn:
    return claim(store, add(store, limits=LIMITS))


def test_a_step_stores_what_it_launches_and_waits_for_it(store: Store, root: ClaimedTurn) -> None:
    children = [child_of(root.turn) for _ in range(2)]

    committed = store.journal.commit(launching(root, children))

    assert list(committed.wake) == [child.id for child in children]
    assert not committed.is_ready
    parent = store.views.turn(root.turn.id)
    assert (parent.status, parent.open_waits, parent.worker_id) == (TurnStatus.WAITING, 2, None)
    assert parent.use == TreeUse(iterations=3, children=2)
    stored = [store.views.turn(child.id) for child in children]
    runs = store.journal.executions(root.turn.id)
    assert [turn.place.launched_by for turn in stored] == [run.id for run in runs]
    assert [run.awaits for run in runs] == [(child.id,) for child in children]
    for turn in stored:
        assert (turn.status, turn.lane, turn.waiters) == (TurnStatus.PENDING, 1, 1)
        assert (turn.place.parent_id, turn.place.depth) == (root.turn.id, 1)
        assert turn.place.limits == LIMITS
        assert kinds(store, turn) == ["turn.submitted"]
        assert [m.text for m in store.views.messages(turn.conversation_id)] == ["Hello."]


def test_a_step_of_a_claim_that_is_lost_launches_nothing(store: Store, root: ClaimedTurn) -> None:
    child = child_of(root.turn)
    stale = replace(root, claim=replace(root.claim, fence=7))

    with pytest.raises(ClaimLost):
        store.journal.commit(launching(stale, [child]))

    with pytest.raises(NotFound):
        store.views.turn(child.id)
    assert store.views.turn(root.turn.id).use == TreeUse()


def test_children_take_the_same_number_of_statements_however_many_they_are(store: Store) -> None:
    limits = TreeLimits(max_children=1000, max_iterations=1000)
    few, many = (claim(store, add(store, limits=limits)) for _ in range(2))

    with counting(store.database) as for_few:
        store.journal.commit(launching(few, [child_of(few.turn) for _ in range(2)]))
    with counting(store.database) as for_many:
        store.journal.commit(launching(many, [child_of(many.turn) for _ in range(300)]))

    assert for_few.statements == for_many.statements <= 8
    assert for_many.commits == 1


def test_a_child_has_no_more_time_than_its_parent(store: Store, root: ClaimedTurn) -> None:
    hurried = child_of(root.turn, timeout=timedelta(minutes=1))
    patient = child_of(root.turn, timeout=timedelta(days=1))
    store.journal.commit(launching(root, [hurried, patient]))

    assert store.views.turn(patient.id).deadline_at == root.turn.deadline_at
    deadline = store.views.turn(hurried.id).deadline_at
    assert deadline is not None
    assert root.turn.deadline_at is not None
    assert deadline < root.turn.deadline_at


def test_a_child_added_by_itself_takes_its_part_of_the_tree(
    store: Store, root: ClaimedTurn
) -> None:
    inner = store.intake.add(child_of(root.turn))
    innermost = child_of(inner, timeout=timedelta(days=1))

    turn = store.intake.add(innermost)

    assert turn == store.views.turn(turn.id)
    assert (turn.place.depth, turn.place.root_id) == (2, root.turn.id)
    assert turn.deadline_at == root.turn.deadline_at
    assert store.views.turn(root.turn.id).use == TreeUse(iterations=3, children=2)


def test_a_child_may_run_at_once(store: Store, root: ClaimedTurn) -> None:
    new = replace(child_of(root.turn), status=TurnStatus.RUNNING, worker_id=ADA, lease=LEASE)

    turn = store.intake.add(new)

    assert (turn.status, turn.fence, turn.is_inline) == (TurnStatus.RUNNING, 1, True)
    assert [m.seq for m in store.journal.transcript(turn.conversation_id)] == [1]


def test_a_child_that_is_there_already_is_returned_and_takes_nothing(
    store: Store, root: ClaimedTurn
) -> None:
    run = new_execution_id()
    children = [replace(child_of(root.turn), id=turn_id_of(run, index=n)) for n in range(3)]
    children = [replace(c, trigger=replace(c.trigger, turn_id=c.id)) for c in children]
    stored = [store.intake.add(child) for child in children]

    again = [store.intake.add(child) for child in children]

    assert again == stored
    assert store.views.turn(root.turn.id).use == TreeUse(iterations=4, children=3)


def test_a_turn_below_an_unknown_one_is_not_stored(store: Store, root: ClaimedTurn) -> None:
    place = replace(root.turn.place, parent_id=TurnId("turn_none"), depth=1)

    with pytest.raises(NotFound, match="there is no turn 'turn_none'"):
        store.intake.add(new_turn(place=place))


@pytest.mark.parametrize("status", [TurnStatus.COMPLETED, TurnStatus.RUNNING])
def test_nothing_is_launched_below_a_turn_that_is_over(
    store: Store, root: ClaimedTurn, status: TurnStatus
) -> None:
    if status.is_ended:
        store.journal.commit(step(root, status=status))
    else:
        store.controls.cancel(root.turn.id, reach=Reach.RETAIN)

    with pytest.raises(InvalidMove, match="is over and launches nothing more"):
        store.intake.add(child_of(root.turn))


def test_a_step_launches_only_turns_that_are_pending(store: Store, root: ClaimedTurn) -> None:
    running = replace(child_of(root.turn), status=TurnStatus.RUNNING, worker_id=ADA, lease=LEASE)

    with pytest.raises(UsageError):
        store.journal.commit(launching(root, [running]))


@pytest.mark.parametrize(
    ("reserve", "path", "limit", "left"),
    [
        pytest.param(Reservation(iterations=5), "limits.max_iterations", 5, 4, id="iterations"),
        pytest.param(
            Reservation(tool_executions=5), "limits.max_tool_executions", 4, 4, id="executions"
        ),
        pytest.param(
            Reservation(tool_executions=3, by_name={"search": 3}),
            "limits.max_tool_executions_by_name.search",
            2,
            2,
            id="executions-of-one-tool",
        ),
        pytest.param(Reservation(children=4), "limits.max_children", 3, 3, id="children"),
    ],
)
@pytest.mark.parametrize("depth", [0, 1])
def test_what_has_no_room_is_refused_with_the_limit_and_stores_nothing(
    store: Store,
    root: ClaimedTurn,
    reserve: Reservation,
    path: str,
    limit: int,
    left: int,
    depth: int,
) -> None:
    turn = root if depth == 0 else claim(store, store.intake.add(child_of(root.turn)))
    taken = 0 if depth == 0 or path not in {"limits.max_iterations", "limits.max_children"} else 1

    with pytest.raises(LimitReached) as caught:
        store.journal.commit(replace(step(turn, texts=["Hi."]), reserve=reserve))

    error = caught.value
    assert (error.path, error.limit, error.left) == (path, limit, left - taken)
    assert store.views.turn(turn.turn.id).step == 0
    assert len(store.journal.transcript(turn.turn.conversation_id)) == 1


def test_the_last_of_a_limit_is_given_out(store: Store, root: ClaimedTurn) -> None:
    everything = Reservation(
        iterations=4, tool_executions=4, by_name={"search": 2, "unlimited": 2}, children=3
    )

    store.journal.commit(replace(step(root), reserve=everything))

    use = store.views.turn(root.turn.id).use
    assert use == TreeUse(iterations=5, tool_executions=4, children=3)
    with pytest.raises(LimitReached, match=r"max_iterations allows 5, and 0 are left"):
        store.journal.commit(replace(step(root, number=2), reserve=Reservation(iterations=1)))


def test_what_is_given_back_can_be_taken_again(store: Store, root: ClaimedTurn) -> None:
    some = Reservation(tool_executions=2, by_name={"search": 2})
    back = Reservation(tool_executions=-2, by_name={"search": -2})
    store.journal.commit(replace(step(root), reserve=some))
    store.journal.commit(replace(step(root, number=2), reserve=back))

    store.journal.commit(replace(step(root, number=3), reserve=some))

    assert store.views.turn(root.turn.id).use.tool_executions == 2
    one = Reservation(tool_executions=1, by_name={"search": 1})
    with pytest.raises(LimitReached, match=r"by_name\.search allows 2, and 0 are left"):
        store.journal.commit(replace(step(root, number=4), reserve=one))


def test_turns_of_one_tree_share_its_limits_also_after_its_root_has_ended(
    store: Store, root: ClaimedTurn
) -> None:
    child = store.intake.add(child_of(root.turn))
    store.journal.commit(step(root, status=TurnStatus.COMPLETED))
    claimed = claim(store, child)

    store.journal.commit(replace(step(claimed), reserve=Reservation(iterations=3)))

    assert store.views.turn(root.turn.id).use == TreeUse(iterations=5, children=1)
    with pytest.raises(LimitReached):
        store.journal.commit(replace(step(claimed, number=2), reserve=Reservation(iterations=1)))


def test_a_step_of_a_lone_turn_that_reserves_takes_no_more_statements(
    store: Store, root: ClaimedTurn
) -> None:
    run = execution(root.turn, 1)
    write = replace(
        step(root, texts=["a"], planned=[run], events=["x"]),
        reserve=Reservation(iterations=1, tool_executions=1),
    )

    with counting(store.database) as counts:
        store.journal.commit(write)

    assert counts.statements == 4


def test_a_tree_is_listed_with_parents_first_in_order_of_launch(
    store: Store, root: ClaimedTurn
) -> None:
    first, second = child_of(root.turn), child_of(root.turn)
    store.journal.commit(launching(root, [first, second]))
    inner = child_of(store.views.turn(second.id))
    store.intake.add(inner)
    add(store)

    assert [turn.id for turn in store.views.tree(root.turn.id)] == [
        root.turn.id,
        first.id,
        second.id,
        inner.id,
    ]
    assert [turn.id for turn in store.views.tree(second.id)] == [second.id, inner.id]


def test_the_tree_of_an_unknown_turn_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.views.tree(TurnId("turn_none"))


def test_a_parent_of_a_thousand_children_joins_with_its_results_in_order(store: Store) -> None:
    """The end of a child takes as many statements as any other's, and reads no sibling."""
    limits = TreeLimits(max_children=1000, max_iterations=2000)
    parent = claim(store, add(store, limits=limits))
    children = [child_of(parent.turn) for _ in range(1000)]
    store.journal.commit(launching(parent, children))
    claimed = [claim(store, store.views.turn(child.id)) for child in children]
    statements = list[int]()

    for number, turn in enumerate(claimed):
        write = step(turn, status=TurnStatus.COMPLETED)
        with counting(store.database) as counts:
            committed = store.journal.commit(
                replace(write, turn=replace(write.turn, result=f"Result {number}."))
            )
        statements.append(counts.statements)
        is_last = number == len(children) - 1
        assert committed.wake == ((parent.turn.id,) if is_last else ())

    assert set(statements) == {statements[0]}
    assert statements[0] <= 5
    joined = claim(store, parent.turn)
    runs = store.journal.executions(parent.turn.id)
    outcomes = store.journal.outcomes([awaited for run in runs for awaited in run.awaits])
    assert [outcome.result for outcome in outcomes] == [f"Result {n}." for n in range(1000)]
    assert joined.turn.open_waits == 0


def test_outcomes_come_in_the_order_asked_for_without_unknown_ones(
    store: Store, root: ClaimedTurn
) -> None:
    child = store.intake.add(child_of(root.turn))
    end(store, child, status=TurnStatus.FAILED)

    outcomes = store.journal.outcomes([child.id, TurnId("turn_none"), root.turn.id, child.id])

    assert [(o.turn_id, o.status) for o in outcomes] == [
        (child.id, TurnStatus.FAILED),
        (root.turn.id, TurnStatus.RUNNING),
        (child.id, TurnStatus.FAILED),
    ]


@pytest.mark.parametrize(
    ("stored", "to", "allowed"),
    [
        (ExecutionStatus.PLANNED, ExecutionStatus.READY, True),
        (ExecutionStatus.READY, ExecutionStatus.RUNNING, True),
        (ExecutionStatus.READY, ExecutionStatus.COMPLETED, True),
        (ExecutionStatus.RUNNING, ExecutionStatus.READY, True),
        (ExecutionStatus.PLANNED, ExecutionStatus.WAITING, True),
        (ExecutionStatus.WAITING, ExecutionStatus.INTERRUPTED, True),
        (ExecutionStatus.WAITING, ExecutionStatus.RUNNING, False),
        (ExecutionStatus.RUNNING, ExecutionStatus.WAITING, False),
        (ExecutionStatus.COMPLETED, ExecutionStatus.READY, False),
    ],
)
def test_executions_move_along_their_drawing(
    store: Store, root: ClaimedTurn, stored: ExecutionStatus, to: ExecutionStatus, *, allowed: bool
) -> None:

    run = execution(root.turn, 1, stored)
    store.journal.commit(step(root, planned=[run]))
    write = step(root, number=2, moves=[ExecutionMove(id=run.id, status=to)])

    if allowed:
        store.journal.commit(write)
    else:
        with pytest.raises(InvalidMove):
            store.journal.commit(write)

    [now] = store.journal.executions(root.turn.id)
    assert now.status is (to if allowed else stored)


def test_a_root_has_its_place(store: Store) -> None:
    turn = add(store)

    assert turn.place == Place(root_id=turn.id)
    assert turn.place.is_root
