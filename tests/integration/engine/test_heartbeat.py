"""Heartbeats that the database does not answer."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event

import pytest
from typing_extensions import override

from runner.core.errors import ClaimLost
from runner.core.ids import TurnId, WorkerId
from runner.core.ports import Journal
from runner.core.records import Claim
from runner.engine.heartbeat import Heartbeat
from runner.store.store import Store
from tests.fakes.clock import FakeClock
from tests.fakes.journal import MortalJournal

LEASE = timedelta(seconds=1)
CLAIM = Claim(turn_id=TurnId("turn_1"), worker_id=WorkerId("worker_1"), fence=1)


class SilentJournal(MortalJournal):
    """Lets whoever renews a claim wait until it is told to answer."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.asked = Event()
        self._may_answer = Event()

    @override
    def renew(self, claims: Collection[Claim], *, lease: timedelta) -> Collection[Claim]:
        self.asked.set()
        self._may_answer.wait()
        return super().renew(claims, lease=lease)

    @contextmanager
    def holding_back(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._may_answer.set()


def test_what_runs_is_stopped_in_time_though_a_heartbeat_still_waits_for_its_answer(
    store: Store,
) -> None:
    clock = FakeClock()
    journal = SilentJournal(store.journal)
    heartbeat = Heartbeat(journal, CLAIM.worker_id, lease=LEASE, clock=clock)
    stopped = Event()

    with (
        journal.holding_back(),
        heartbeat.holding(CLAIM, since=clock.monotonic()) as lease,
    ):
        lease.stop.subscribe(stopped.set)
        assert journal.asked.wait(60)
        clock.advance(0.9 * LEASE.total_seconds())
        was_stopped = stopped.wait(60)
    heartbeat.close()

    assert was_stopped
    with pytest.raises(ClaimLost):
        lease.stop.check()
