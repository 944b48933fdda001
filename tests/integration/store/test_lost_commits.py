"""Connections lost at the commit, when nobody can say whether it took place."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from runner.core.approvals import Answer
from runner.core.coordination import NewDelivery, Reach
from runner.core.ids import new_delivery_id
from runner.core.ports import ApprovalFilter
from runner.core.records import ClaimedTurn, ExecutionMove
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tree import TreeLimits, TreeUse
from runner.store.database import Database, open_database
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    BOB,
    DEFINITION,
    LEASE,
    TIMEOUT,
    add,
    child_of,
    claim,
    execution,
    kinds,
    launching,
    new_turn,
    step,
    waiting_for,
)
from tests.integration.store.proxy import Loss, Proxy, proxied
from tests.integration.store.questions import ask
from tests.store_helpers import expire_lease

at_the_commit = pytest.mark.parametrize(
    "loss", [Loss.BEFORE, Loss.AFTER], ids=lambda loss: loss.name.lower()
)


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[Proxy]:
    with proxied(postgres_url) as proxy:
        yield proxy


@pytest.fixture
def store(proxy: Proxy) -> Iterator[Store]:
    database = open_database(proxy.url)
    store = Store.over(database)
    store.intake.save_definition(content_hash=DEFINITION, kind="agent", name="writer", body="{}")
    yield store
    assert proxy.losses == 1
    assert list(store.sweeps.unattended(limit=10)) == []
    store.close()


@at_the_commit
@pytest.mark.parametrize("status", [TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING])
def test_a_turn_is_added_once(store: Store, proxy: Proxy, loss: Loss, status: TurnStatus) -> None:
    new = new_turn(status=status)
    proxy.lose_next_commit(loss)

    turn = store.intake.add(new)

    assert turn == store.views.turn(new.id)
    assert len(store.views.messages(new.conversation_id)) == 1
    assert len(kinds(store, turn)) == 1


@at_the_commit
@pytest.mark.parametrize("status", [TurnStatus.PENDING, TurnStatus.RUNNING])
def test_a_turn_takes_one_place_in_the_lane(
    store: Store, proxy: Proxy, loss: Loss, status: TurnStatus
) -> None:
    ended = claim(store, add(store))
    store.journal.commit(step(ended, status=TurnStatus.COMPLETED))
    proxy.lose_next_commit(loss)

    turn = add(store, ended.turn.conversation_id, status=status)

    assert (turn.lane, turn.status) == (2, status)
    assert add(store, ended.turn.conversation_id).lane == 3


@at_the_commit
def test_a_turn_is_submitted_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    prepared = add(store, status=TurnStatus.PREPARED)
    proxy.lose_next_commit(loss)

    turn = store.intake.submit(prepared.id, timeout=TIMEOUT)

    assert (turn.status, turn.lane) == (TurnStatus.PENDING, 1)
    assert kinds(store, turn) == ["turn.prepared", "turn.submitted"]
    assert add(store, turn.conversation_id).lane == 2


@at_the_commit
def test_a_claim_is_known_to_whoever_made_it(store: Store, proxy: Proxy, loss: Loss) -> None:
    turn = add(store)
    proxy.lose_next_commit(loss)

    claimed = claim(store, turn)

    assert claimed.claim.fence == 1
    assert claimed.turn == store.views.turn(turn.id)
    assert kinds(store, turn) == ["turn.submitted", "turn.started"]
    store.journal.commit(step(claimed))


@at_the_commit
def test_a_step_is_written_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    claimed = claim(store, add(store))
    run = execution(claimed.turn, 1)
    store.journal.commit(step(claimed, planned=[run]))
    move = ExecutionMove(id=run.id, status=ExecutionStatus.RUNNING)
    proxy.lose_next_commit(loss)

    store.journal.commit(step(claimed, number=2, texts=["Hi."], moves=[move], events=["x"]))

    assert store.views.turn(claimed.turn.id).step == 2
    messages = store.views.messages(claimed.turn.conversation_id)
    assert [message.text for message in messages] == ["Hello.", "Hi."]
    assert kinds(store, claimed.turn).count("x") == 1
    store.journal.commit(step(claimed, number=3))


@at_the_commit
def test_a_turn_ends_once_and_names_the_next(store: Store, proxy: Proxy, loss: Loss) -> None:
    claimed = claim(store, add(store))
    following = add(store, claimed.turn.conversation_id)
    proxy.lose_next_commit(loss)

    committed = store.journal.commit(step(claimed, status=TurnStatus.COMPLETED))

    assert committed.wake == (following.id,)


@at_the_commit
def test_a_turn_is_handed_back_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    claimed = claim(store, add(store))
    proxy.lose_next_commit(loss)

    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(0)))

    assert claim(store, claimed.turn, BOB).claim.fence == 2


@at_the_commit
def test_a_lease_is_renewed(store: Store, proxy: Proxy, loss: Loss) -> None:
    claimed = claim(store, add(store))
    proxy.lose_next_commit(loss)

    assert list(store.journal.renew([claimed.claim], lease=LEASE)) == [claimed.claim]


@at_the_commit
def test_an_expired_claim_is_released_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    claimed = claim(store, add(store))
    expire_lease(store.database, claimed.turn.id)
    proxy.lose_next_commit(loss)

    store.sweeps.release_expired(limit=10)

    assert kinds(store, claimed.turn).count("turn.released") == 1
    assert list(store.sweeps.due(limit=10, quiet=timedelta(0))) == [claimed.turn.id]


@at_the_commit
def test_a_definition_is_saved_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    proxy.lose_next_commit(loss)

    store.intake.save_definition(content_hash="h", kind="agent", name="a", body="b")

    assert store.intake.definition("h") == "b"


@at_the_commit
def test_children_are_launched_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    parent = claim(store, add(store))
    children = [child_of(parent.turn) for _ in range(2)]
    proxy.lose_next_commit(loss)

    committed = store.journal.commit(launching(parent, children))

    assert list(committed.wake) == [child.id for child in children]
    waiting = store.views.turn(parent.turn.id)
    assert (waiting.status, waiting.open_waits) == (TurnStatus.WAITING, 2)
    assert waiting.use == TreeUse(iterations=3, children=2)
    for child in children:
        assert store.views.turn(child.id).waiters == 1


@at_the_commit
def test_waits_are_begun_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    waiter, awaited = claim(store, add(store)), add(store)
    proxy.lose_next_commit(loss)

    assert not store.journal.commit(waiting_for(waiter, awaited)).is_ready

    assert store.views.turn(awaited.id).waiters == 1


@at_the_commit
def test_those_who_wait_are_woken_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    waiter, awaited, other = claim(store, add(store)), add(store), add(store)
    store.journal.commit(waiting_for(waiter, awaited, other))
    ended = claim(store, awaited)
    proxy.lose_next_commit(loss)

    assert store.journal.commit(step(ended, status=TurnStatus.COMPLETED)).wake == ()

    assert store.views.turn(waiter.turn.id).open_waits == 1
    last = store.journal.commit(step(claim(store, other), status=TurnStatus.COMPLETED))
    assert last.wake == (waiter.turn.id,)


@at_the_commit
def test_the_last_one_to_end_names_who_goes_on(store: Store, proxy: Proxy, loss: Loss) -> None:
    waiter, awaited = claim(store, add(store)), add(store)
    store.journal.commit(waiting_for(waiter, awaited))
    ended = claim(store, awaited)
    proxy.lose_next_commit(loss)

    committed = store.journal.commit(step(ended, status=TurnStatus.COMPLETED))

    assert committed.wake == (waiter.turn.id,)


@at_the_commit
def test_a_child_is_added_once_and_takes_its_part_once(
    store: Store, proxy: Proxy, loss: Loss
) -> None:
    parent = claim(store, add(store, limits=TreeLimits(max_children=1)))
    new = child_of(parent.turn)
    proxy.lose_next_commit(loss)

    turn = store.intake.add(new)

    assert turn == store.views.turn(new.id)
    assert store.views.turn(parent.turn.id).use.children == 1


@at_the_commit
def test_a_message_is_delivered_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    home = add(store).conversation_id
    new = NewDelivery(
        id=new_delivery_id(),
        key="key",
        source=None,
        destination=home,
        text="News.",
        continuation=new_turn(home),
    )
    proxy.lose_next_commit(loss)

    delivery = store.deliveries.deliver(new)

    assert store.deliveries.inbox(home) == [delivery]
    assert add(store, home).lane == 3


@at_the_commit
def test_an_input_is_queued_once(store: Store, proxy: Proxy, loss: Loss) -> None:
    turn = claim(store, add(store)).turn
    proxy.lose_next_commit(loss)

    given = store.controls.steer(turn.id, key="a", text="Go.")

    assert store.journal.inputs(turn.id) == [given]
    assert store.views.turn(turn.id).open_inputs == 1


@at_the_commit
@pytest.mark.parametrize("control", ["cancel", "pause"])
def test_a_control_takes_effect_once(store: Store, proxy: Proxy, loss: Loss, control: str) -> None:
    turn, following = add(store), add(store)
    claimed = claim(store, following)
    proxy.lose_next_commit(loss)

    getattr(store.controls, control)(turn.id, reach=Reach.RETAIN)

    status = {"cancel": TurnStatus.CANCELLED, "pause": TurnStatus.PAUSED}[control]
    assert store.views.turn(turn.id).status is status
    assert len(kinds(store, turn)) == 2
    store.journal.commit(step(claimed))


def test_a_turn_has_ended_although_the_next_could_not_be_looked_for(postgres_url: str) -> None:
    """The server goes away right after the commit: what was written is not called a failure."""
    direct = open_database(postgres_url)
    with proxied(postgres_url) as proxy:
        engine = open_database(proxy.url).engine
        store = Store.over(Database(engine, busy_timeout=LEASE, pause=lambda _: None))
        claimed = claim(store, add(store))
        following = add(store, claimed.turn.conversation_id)
        proxy.lose_next_commit(Loss.LATER)

        assert store.journal.commit(step(claimed, status=TurnStatus.COMPLETED)).wake == ()
        store.close()

    after = Store.over(direct)
    assert after.views.turn(claimed.turn.id).status is TurnStatus.COMPLETED
    assert list(after.sweeps.due(limit=10, quiet=timedelta(0))) == [following.id]
    after.close()


def test_a_claim_that_a_thread_of_the_same_worker_made_meanwhile_is_not_taken_for_its_own(
    postgres_url: str,
) -> None:
    """The first attempt was rolled back, and its fence went to a claim of another thread."""
    direct = Store.over(open_database(postgres_url))
    turn = add(direct)
    with proxied(postgres_url) as proxy:
        store = Store.over(
            Database(
                open_database(proxy.url).engine,
                busy_timeout=LEASE,
                pause=lambda _: made.append(claim(direct, turn, ADA)),
            )
        )
        made: list[ClaimedTurn] = []
        proxy.lose_next_commit(Loss.BEFORE)

        assert store.journal.claim(turn.id, ADA, lease=LEASE) is None
        store.close()

    assert [claimed.claim.fence for claimed in made] == [1]
    direct.close()


@at_the_commit
def test_an_approval_is_answered_once_and_by_whoever_answered(
    store: Store, proxy: Proxy, loss: Loss
) -> None:
    turn = ask(store)
    [approval] = store.views.approvals(ApprovalFilter())
    proxy.lose_next_commit(loss)

    answered = store.approvals.answer(
        approval.id, Answer.APPROVED, principal={"id": "ada"}, reason="Yes."
    )

    assert answered.wake == (turn.id,)
    assert answered.approval == store.views.approval(approval.id)
    assert kinds(store, turn).count("approval.answered") == 1
    assert store.views.turn(turn.id).open_approvals == 0
