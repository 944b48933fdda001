"""Questions that are stored with a step, and answered once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from runner.core.approvals import Answer
from runner.core.authorization import AgentRef
from runner.core.coordination import Reach
from runner.core.errors import ApprovalAnswered, StoreError
from runner.core.ids import new_approval_id
from runner.core.ports import ApprovalFilter
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.store.database import Database
from runner.store.store import Store
from tests.integration.store.builders import (
    TIMEOUT,
    add,
    child_of,
    claim,
    kinds,
    step,
    waiting_for,
)
from tests.integration.store.questions import QUESTION, ask, asking
from tests.racing import race, unless
from tests.store_helpers import counting, expire_approval, pass_deadline


def answer(store: Store, turn: Turn, given: Answer = Answer.APPROVED) -> None:
    [approval, *_] = store.views.approvals(ApprovalFilter(turn_id=turn.id))
    store.approvals.answer(approval.id, given, principal=None, reason=None)


def test_a_question_is_stored_with_the_step_and_read_as_it_was(store: Store) -> None:
    turn = ask(store)

    [approval] = store.views.approvals(ApprovalFilter())

    assert (turn.status, turn.open_approvals) == (TurnStatus.WAITING, 1)
    assert approval.question == QUESTION
    assert approval.expires_at - approval.asked_at == timedelta(minutes=5)
    assert store.views.approval(approval.id) == approval
    assert list(store.journal.approvals(turn.id)) == [approval]


def test_an_answer_makes_a_waiting_turn_pending_in_its_transaction(store: Store) -> None:
    turn = ask(store, questions=2)
    [first, second] = store.views.approvals(ApprovalFilter(turn_id=turn.id))

    answered = store.approvals.answer(
        second.id, Answer.DENIED, principal={"id": "ada"}, reason="Too dear.\x00"
    )

    assert answered.wake == (turn.id,)
    stored = answered.approval
    assert (stored.answer, stored.answered_by) == (Answer.DENIED, {"id": "ada"})
    assert stored.answer_reason is not None
    assert "\x00" not in stored.answer_reason
    now = store.views.turn(turn.id)
    assert (now.status, now.open_approvals) == (TurnStatus.PENDING, 1)
    assert list(store.views.approvals(ApprovalFilter())) == [first]
    assert kinds(store, turn)[-1] == "approval.answered"


def test_answered_approvals_are_listed_behind_the_open_ones(store: Store) -> None:
    turn = ask(store, questions=2)
    answer(store, turn)

    listed = store.views.approvals(ApprovalFilter(answered=True))

    assert [each.answer for each in listed] == [None, Answer.APPROVED]
    assert len(store.views.approvals(ApprovalFilter(answered=True, limit=1))) == 1


def test_an_answer_that_comes_before_the_turn_waits_keeps_it_from_waiting(store: Store) -> None:
    claimed = claim(store, add(store))
    first = asking(claimed, questions=2)
    running = replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING))
    store.journal.commit(running)
    answer(store, claimed.turn)

    known = replace(claimed.turn, open_approvals=2)
    park = step(replace(claimed, turn=known), number=2, status=TurnStatus.WAITING)
    committed = store.journal.commit(park)

    assert committed.is_ready
    assert committed.open_approvals == 1
    assert store.views.turn(claimed.turn.id).status is TurnStatus.PENDING


def test_a_step_that_runs_on_is_told_how_many_questions_are_open(store: Store) -> None:
    claimed = claim(store, add(store))
    first = asking(claimed)
    store.journal.commit(replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING)))
    answer(store, claimed.turn)

    committed = store.journal.commit(step(claimed, number=2))

    assert committed.open_approvals == 0


def test_a_turn_waits_for_others_and_for_people_and_goes_on_with_either(store: Store) -> None:
    awaited = [add(store), add(store)]
    for other in awaited:
        claimed = claim(store, add(store))
        first = asking(claimed)
        store.journal.commit(replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING)))
        known = replace(claimed, turn=replace(claimed.turn, open_approvals=1))
        write = waiting_for(known, other, number=2)
        store.journal.commit(write)
        turn = store.views.turn(claimed.turn.id)
        assert (turn.status, turn.open_waits, turn.open_approvals) == (TurnStatus.WAITING, 1, 1)
        if other is awaited[0]:
            answer(store, turn)
        else:
            store.journal.commit(step(claim(store, other), status=TurnStatus.COMPLETED))
        assert store.views.turn(turn.id).status is TurnStatus.PENDING


def test_new_input_makes_a_turn_that_waits_for_people_alone_pending(store: Store) -> None:
    turn = ask(store)

    store.controls.steer(turn.id, key="k", text="Never mind.")

    assert store.views.turn(turn.id).status is TurnStatus.PENDING


def test_input_that_comes_before_the_turn_waits_for_people_keeps_it_from_waiting(
    store: Store,
) -> None:
    claimed = claim(store, add(store))
    store.controls.steer(claimed.turn.id, key="k", text="Never mind.")

    committed = store.journal.commit(asking(claimed))

    assert committed.is_ready


def test_a_cancel_withdraws_what_is_asked_at_once(store: Store) -> None:
    turn = ask(store, questions=2)

    store.controls.cancel(turn.id, reach=Reach.RETAIN)

    assert store.views.approvals(ApprovalFilter()) == []
    answered = store.views.approvals(ApprovalFilter(answered=True))
    assert {each.answer for each in answered} == {Answer.WITHDRAWN}
    assert kinds(store, turn).count("approval.answered") == 2
    assert store.views.turn(turn.id).open_approvals == 0


def test_a_step_that_closes_calls_withdraws_what_is_asked(store: Store) -> None:
    claimed = claim(store, add(store))
    first = asking(claimed)
    store.journal.commit(replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING)))

    store.journal.commit(replace(step(claimed, number=2), withdraws=True))

    [approval] = store.views.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.WITHDRAWN
    assert store.views.turn(claimed.turn.id).open_approvals == 0


@pytest.mark.parametrize("is_open", [True, False])
def test_a_paused_turn_is_answered_and_goes_on_only_when_it_is_resumed(
    store: Store, *, is_open: bool
) -> None:
    turn = ask(store)
    store.controls.pause(turn.id, reach=Reach.RETAIN)

    if not is_open:
        answer(store, turn)
    assert store.views.turn(turn.id).status is TurnStatus.PAUSED
    store.controls.resume(turn.id, reach=Reach.RETAIN)

    # What is still asked it finds out for itself, and waits again.
    assert store.views.turn(turn.id).status is TurnStatus.PENDING


def test_a_resumed_turn_that_waits_for_others_reads_an_answer_first(store: Store) -> None:
    claimed = claim(store, add(store))
    first = asking(claimed)
    store.journal.commit(replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING)))
    known = replace(claimed, turn=replace(claimed.turn, open_approvals=1))
    store.journal.commit(waiting_for(known, add(store), number=2))
    store.controls.pause(claimed.turn.id, reach=Reach.RETAIN)
    answer(store, claimed.turn)

    store.controls.resume(claimed.turn.id, reach=Reach.RETAIN)

    assert store.views.turn(claimed.turn.id).status is TurnStatus.PENDING


def test_expiry_answers_what_is_overdue_and_nothing_else(store: Store, database: Database) -> None:
    turn = ask(store, questions=2)
    [first, second] = store.views.approvals(ApprovalFilter())
    expire_approval(database, first.id)

    assert list(store.sweeps.expire_approvals(limit=10)) == [turn.id]
    assert list(store.sweeps.expire_approvals(limit=10)) == []

    assert list(store.views.approvals(ApprovalFilter())) == [second]
    assert store.views.approval(first.id).answer is Answer.EXPIRED
    assert store.views.turn(turn.id).open_approvals == 1


def test_expiry_is_found_in_bounded_batches_oldest_first(store: Store, database: Database) -> None:
    turns = [ask(store) for _ in range(3)]
    for approval in store.views.approvals(ApprovalFilter()):
        expire_approval(database, approval.id)

    found = [list(store.sweeps.expire_approvals(limit=1)) for _ in range(4)]

    assert sorted(turn_id for batch in found for turn_id in batch) == sorted(t.id for t in turns)
    assert [len(batch) for batch in found] == [1, 1, 1, 0]


def test_what_is_overdue_cannot_be_answered_any_more(store: Store, database: Database) -> None:
    turn = ask(store)
    [approval] = store.views.approvals(ApprovalFilter())
    expire_approval(database, approval.id)

    with pytest.raises(ApprovalAnswered, match="has expired"):
        answer(store, turn)

    store.sweeps.expire_approvals(limit=10)


def test_expiry_of_a_paused_turn_leaves_it_paused(store: Store, database: Database) -> None:
    turn = ask(store)
    [approval] = store.views.approvals(ApprovalFilter())
    store.controls.pause(turn.id, reach=Reach.RETAIN)
    expire_approval(database, approval.id)

    assert list(store.sweeps.expire_approvals(limit=10)) == []

    assert store.views.turn(turn.id).status is TurnStatus.PAUSED
    assert store.views.approval(approval.id).answer is Answer.EXPIRED


def test_a_turn_past_its_deadline_becomes_pending_whatever_it_asks(
    store: Store, database: Database
) -> None:
    turn = ask(store)
    pass_deadline(database, turn.id)

    assert list(store.sweeps.release_overdue(limit=10)) == [turn.id]


def test_a_turn_that_asks_is_somebodys_responsibility_until_it_is_answered(store: Store) -> None:
    ask(store)

    assert store.sweeps.unattended(limit=10) == []
    assert store.sweeps.release_joined(limit=10) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE approvals SET answered_at = asked_at, answer = 'approved'", "waiting for nothing"),
        ("UPDATE tool_executions SET status = 'running'", None),
    ],
)
def test_a_turn_that_was_not_woken_by_its_answer_is_found(
    database: Database, change: str, fault: str | None
) -> None:
    store = Store.over(database)
    turn = ask(store)
    database.write(lambda connection: connection.exec_driver_sql(change))

    unattended = [said for _, said in store.sweeps.unattended(limit=10)]
    mended = store.sweeps.release_joined(limit=10)

    assert unattended == ([] if fault is None else [fault])
    assert list(mended) == ([] if fault is None else [turn.id])


def test_one_of_many_answers_at_the_same_moment_is_kept(store: Store) -> None:
    turn = ask(store)
    [approval] = store.views.approvals(ApprovalFilter())
    answers = [(Answer.APPROVED, Answer.DENIED)[number % 2] for number in range(8)]
    give = partial(store.approvals.answer, approval.id, principal=None, reason=None)

    done = race([unless(ApprovalAnswered, partial(give, each)) for each in answers])

    given = [each for each, is_kept in zip(answers, done, strict=True) if is_kept]
    assert given == [store.views.approval(approval.id).answer]
    assert store.views.turn(turn.id).open_approvals == 0


@pytest.mark.parametrize(
    "answer_it",
    [
        answer,
        lambda store, turn: store.controls.cancel(turn.id, reach=Reach.RETAIN),
        lambda store, turn: store.controls.steer(turn.id, key="k", text="Go."),
    ],
    ids=["answers", "cancels", "inputs"],
)
def test_answers_and_controls_at_the_same_moment_leave_the_turn_pending_and_counted(
    store: Store, answer_it: Callable[[Store, Turn], object]
) -> None:
    turn = ask(store, questions=2)
    [first, _second] = store.views.approvals(ApprovalFilter())
    deny = partial(store.approvals.answer, first.id, Answer.DENIED, principal=None, reason=None)

    race([unless(ApprovalAnswered, act) for act in (deny, partial(answer_it, store, turn))])

    now = store.views.turn(turn.id)
    assert now.status is TurnStatus.PENDING
    assert now.open_approvals == len(store.views.approvals(ApprovalFilter()))


def test_an_execution_is_asked_about_once(store: Store) -> None:
    claimed = claim(store, add(store))
    first = asking(claimed)
    store.journal.commit(replace(first, turn=replace(first.turn, status=TurnStatus.RUNNING)))
    again = replace(first.approvals[0], id=new_approval_id())

    with pytest.raises(StoreError):
        store.journal.commit(replace(step(claimed, number=2), approvals=[again]))


def test_a_child_knows_the_agents_above_it(store: Store) -> None:
    parent = claim(store, add(store)).turn

    child = store.intake.add(child_of(parent, timeout=TIMEOUT))

    own = AgentRef(name="writer", definition_hash="sha256:1")
    assert parent.lineage == (own,)
    assert child.place.ancestors == (own,)
    assert store.views.turn(child.id).lineage == (own, own)


def test_a_step_without_questions_costs_no_statement_more(store: Store, database: Database) -> None:
    claimed = claim(store, add(store))

    with counting(database) as counts:
        store.journal.commit(step(claimed))

    assert counts.statements == 1
