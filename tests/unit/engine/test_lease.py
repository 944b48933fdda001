from datetime import timedelta

import pytest

from runner.core.errors import ClaimLost, HandBack
from runner.core.ids import TurnId, WorkerId
from runner.core.records import Claim
from runner.engine.lease import Lease
from tests.fakes.clock import FakeClock

CLAIM = Claim(turn_id=TurnId("turn_1"), worker_id=WorkerId("worker_1"), fence=1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def lease(clock: FakeClock) -> Lease:
    return Lease(CLAIM, length=timedelta(seconds=10), clock=clock, since=clock.monotonic())


def test_a_claim_is_trusted_while_it_is_young(lease: Lease, clock: FakeClock) -> None:
    clock.advance(7)

    lease.check()

    assert not lease.is_over


def test_a_claim_is_given_up_before_the_database_lets_others_have_it(
    lease: Lease, clock: FakeClock
) -> None:
    clock.advance(9)

    with pytest.raises(ClaimLost):
        lease.check()

    assert lease.stop.is_set()


def test_a_renewed_claim_is_trusted_from_before_the_renewal(lease: Lease, clock: FakeClock) -> None:
    clock.advance(5)
    lease.extend(since=clock.monotonic())
    clock.advance(7)

    lease.check()

    clock.advance(2)
    with pytest.raises(ClaimLost):
        lease.check()


def test_a_late_renewal_does_not_shorten_a_claim(lease: Lease, clock: FakeClock) -> None:
    lease.extend(since=clock.monotonic() - 100)

    lease.check()


def test_a_lost_claim_stops_what_is_running(lease: Lease) -> None:
    lease.lose()

    with pytest.raises(ClaimLost):
        lease.stop.check()


def test_a_turn_asked_back_goes_at_the_next_boundary(lease: Lease) -> None:
    lease.ask_back(at_once=False)

    assert not lease.stop.is_set()
    with pytest.raises(HandBack):
        lease.check()


def test_a_turn_asked_back_at_once_stops_what_is_running(lease: Lease) -> None:
    lease.ask_back(at_once=True)

    with pytest.raises(HandBack):
        lease.stop.check()


def test_a_claim_that_is_lost_while_asked_back_is_lost(lease: Lease) -> None:
    lease.ask_back(at_once=False)
    lease.lose()

    with pytest.raises(ClaimLost):
        lease.check()
