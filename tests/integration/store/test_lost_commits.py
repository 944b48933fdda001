"""Connections lost at the commit, when nobody can say whether it took place."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from runner.core.records import ClaimedTurn, ExecutionMove
from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.database import Database, open_database
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    BOB,
    DEFINITION,
    LEASE,
    TIMEOUT,
    add,
    claim,
    execution,
    kinds,
    new_turn,
    step,
)
from tests.integration.store.proxy import Loss, Proxy, proxied
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
