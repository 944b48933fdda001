from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from runner.core.errors import ClaimLost
from runner.core.ids import WorkerId, new_turn_id
from runner.core.records import Claim
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import ADA, BOB, LEASE, add, claim, kinds, step
from tests.racing import race
from tests.store_helpers import counting

Mark = Callable[[str], None]


def test_a_claim_gives_the_right_to_write(store: Store) -> None:
    turn = add(store)

    claimed = claim(store, turn)

    assert claimed.claim == Claim(turn_id=turn.id, worker_id=ADA, fence=1)
    assert claimed.turn == store.views.turn(turn.id)
    assert (claimed.turn.status, claimed.turn.claims) == (TurnStatus.RUNNING, 1)
    assert 0 < claimed.seconds_left <= 600
    assert kinds(store, turn) == ["turn.submitted", "turn.started"]


def test_a_turn_is_claimed_once(store: Store) -> None:
    turn = add(store)
    claim(store, turn)

    assert store.journal.claim(turn.id, BOB, lease=LEASE) is None


def test_of_many_workers_one_claims_a_turn(store: Store) -> None:
    """Two claimers: both saw the turn pending, and one changes no row."""
    turn = add(store)
    workers = [WorkerId(f"worker_{number}") for number in range(8)]

    claims = race([partial(store.journal.claim, turn.id, each, lease=LEASE) for each in workers])

    assert sum(claimed is not None for claimed in claims) == 1


def test_an_unknown_turn_is_not_claimed(store: Store) -> None:
    assert store.journal.claim(new_turn_id(), ADA, lease=LEASE) is None


def test_turns_of_a_conversation_are_claimed_in_the_order_of_their_submission(
    store: Store,
) -> None:
    first = add(store)
    second = add(store, first.conversation_id)

    assert store.journal.claim(second.id, ADA, lease=LEASE) is None
    claimed = claim(store, first)
    assert store.journal.claim(second.id, ADA, lease=LEASE) is None
    store.journal.commit(step(claimed, status=TurnStatus.COMPLETED))
    assert claim(store, second).turn.id == second.id


def test_a_trigger_takes_its_place_when_its_turn_starts(store: Store) -> None:
    first = add(store, text="One.")
    second = add(store, first.conversation_id, text="Two.")
    claimed = claim(store, first)
    store.journal.commit(step(claimed, status=TurnStatus.COMPLETED, texts=["Answer."]))
    claim(store, second)

    transcript = store.journal.transcript(first.conversation_id)

    assert [(message.seq, message.text) for message in transcript] == [
        (1, "One."),
        (2, "Answer."),
        (3, "Two."),
    ]


def test_a_turn_that_was_handed_back_resumes_under_a_higher_fence(store: Store) -> None:
    first = claim(store, add(store))
    store.journal.commit(step(first, status=TurnStatus.PENDING))

    second = claim(store, first.turn, BOB)

    assert (second.claim.fence, second.turn.started_at) == (2, first.turn.started_at)
    assert kinds(store, first.turn)[-1] == "turn.resumed"
    assert [message.seq for message in store.journal.transcript(first.turn.conversation_id)] == [1]


def test_claims_are_counted_until_a_step_is_committed(store: Store, expire_lease: Mark) -> None:
    turn = add(store)
    for _ in range(3):
        claim(store, turn)
        expire_lease(turn.id)
        store.sweeps.release_expired(limit=1)

    claimed = claim(store, turn)
    assert claimed.turn.claims == 4
    store.journal.commit(step(claimed))
    assert store.views.turn(turn.id).claims == 0


def test_a_turn_is_not_claimed_before_its_time(store: Store, make_due: Mark) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(hours=1)))

    assert store.journal.claim(claimed.turn.id, ADA, lease=LEASE) is None
    make_due(claimed.turn.id)
    assert claim(store, claimed.turn).turn.not_before is None


def test_a_turn_whose_deadline_has_passed_is_claimed_before_its_time(
    store: Store, pass_deadline: Mark
) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(hours=1)))
    pass_deadline(claimed.turn.id)

    assert claim(store, claimed.turn).seconds_left < 0


def test_a_turn_is_due_at_its_deadline_at_the_latest(store: Store) -> None:
    claimed = claim(store, add(store, timeout=timedelta(milliseconds=1)))
    store.journal.commit(step(claimed, status=TurnStatus.PENDING, delay=timedelta(hours=1)))

    again = store.views.turn(claimed.turn.id)
    assert again.not_before is not None
    assert again.deadline_at is not None
    assert again.not_before > again.deadline_at
    assert claim(store, claimed.turn).seconds_left < 0


def test_a_claim_that_was_taken_over_cannot_write(store: Store, expire_lease: Mark) -> None:
    """Taken over: the fence is higher now, so the slow worker's step changes no row."""
    slow = claim(store, add(store))
    expire_lease(slow.turn.id)
    store.sweeps.release_expired(limit=1)
    fast = claim(store, slow.turn, BOB)

    with pytest.raises(ClaimLost, match="under fence 1"):
        store.journal.commit(step(slow, texts=["Late."]))

    assert len(store.journal.transcript(slow.turn.conversation_id)) == 1
    store.journal.commit(step(fast, texts=["In time."]))


def test_a_claim_that_was_released_cannot_write(store: Store, expire_lease: Mark) -> None:
    """Expired: the turn is pending under the same fence, and its status is in the way."""
    slow = claim(store, add(store))
    expire_lease(slow.turn.id)
    store.sweeps.release_expired(limit=1)

    with pytest.raises(ClaimLost):
        store.journal.commit(step(slow))


def test_a_claim_on_a_turn_that_ended_cannot_write(store: Store) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, status=TurnStatus.COMPLETED))
    ended = store.views.turn(claimed.turn.id)

    with pytest.raises(ClaimLost):
        store.journal.commit(step(claimed, number=2, status=TurnStatus.FAILED))

    assert store.views.turn(claimed.turn.id) == ended


def test_renewing_extends_the_named_claims_of_a_worker_and_no_other(store: Store) -> None:
    mine = [claim(store, add(store)), claim(store, add(store))]
    other = claim(store, add(store))

    with counting(store.database) as counts:
        kept = store.journal.renew([each.claim for each in mine], lease=timedelta(hours=1))

    assert set(kept) == {claimed.claim for claimed in mine}
    assert (counts.statements, counts.commits) == (1, 1)
    leases = [store.views.turn(c.turn.id).lease_expires_at for c in [*mine, other]]
    assert leases[2] == other.turn.lease_expires_at
    assert other.turn.lease_expires_at is not None
    for lease in leases[:2]:
        assert lease is not None
        assert lease - other.turn.lease_expires_at > timedelta(minutes=50)


def test_renewing_leaves_out_what_was_taken_away(store: Store, expire_lease: Mark) -> None:
    claimed = claim(store, add(store))
    expire_lease(claimed.turn.id)
    store.sweeps.release_expired(limit=1)

    assert list(store.journal.renew([claimed.claim], lease=LEASE)) == []


def test_a_claim_that_nobody_works_on_any_more_ends_although_its_worker_lives(
    store: Store, expire_lease: Mark
) -> None:
    left, held = claim(store, add(store)), claim(store, add(store))
    expire_lease(left.turn.id)

    store.journal.renew([held.claim], lease=LEASE)

    assert list(store.sweeps.release_expired(limit=10)) == [left.turn.id]


def test_a_claim_of_an_earlier_fence_is_not_renewed(store: Store, expire_lease: Mark) -> None:
    first = claim(store, add(store))
    expire_lease(first.turn.id)
    store.sweeps.release_expired(limit=1)
    second = store.journal.claim(first.turn.id, BOB, lease=LEASE)

    assert second is not None
    assert list(store.journal.renew([first.claim], lease=LEASE)) == []
    assert list(store.journal.renew([first.claim, second.claim], lease=LEASE)) == [second.claim]


def test_a_lease_that_is_over_but_not_yet_released_can_be_renewed(
    store: Store, expire_lease: Mark
) -> None:
    claimed = claim(store, add(store))
    expire_lease(claimed.turn.id)

    assert list(store.journal.renew([claimed.claim], lease=LEASE)) == [claimed.claim]
    assert list(store.sweeps.release_expired(limit=1)) == []


def test_a_claim_takes_at_most_four_statements_and_one_commit(store: Store) -> None:
    turn = add(store)

    with counting(store.database) as counts:
        claim(store, turn)

    assert counts.statements <= 4
    assert counts.commits == 1
