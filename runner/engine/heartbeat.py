"""Keeps every claim of this process alive, with one statement for all of them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Lock, Thread

from runner.core.clock import Clock
from runner.core.errors import StoreError
from runner.core.ids import WorkerId
from runner.core.ports import Journal
from runner.core.records import Claim
from runner.engine.lease import Lease

log = logging.getLogger(__name__)


class Heartbeat:
    """
    Renews the leases of one process and tells executions that lost theirs.

    One thread asks the database. When that does not answer nothing is extended, and another thread,
    which waits for nobody, ends what runs under each lease in time.
    """

    def __init__(
        self, journal: Journal, worker_id: WorkerId, *, lease: timedelta, clock: Clock
    ) -> None:
        self.worker_id = worker_id
        self._journal = journal
        self._length = lease
        self._clock = clock
        self._leases: dict[Claim, Lease] = {}
        #: Whether this process was asked to let go of its turns, so that it takes no more.
        self.is_leaving = False
        self._lock = Lock()
        self._stopped = Event()
        self._threads: tuple[Thread, ...] = ()

    @contextmanager
    def holding(self, claim: Claim, *, since: float) -> Iterator[Lease]:
        """Keep *claim* alive; *since* is the monotonic time before it was asked for."""
        lease = Lease(claim, length=self._length, clock=self._clock, since=since)
        with self._lock:
            self._leases[claim] = lease
            self._start()
            if self.is_leaving:
                lease.ask_back(at_once=False)
        try:
            yield lease
        finally:
            with self._lock:
                self._leases.pop(claim, None)

    def ask_back(self, *, at_once: bool) -> None:
        """Ask every execution of this process to hand its turn back, also one about to begin."""
        self.is_leaving = True
        for lease in self._held():
            lease.ask_back(at_once=at_once)

    def beat(self) -> None:
        """Renew every claim held now; what the database no longer gives us is lost."""
        # Only leases held before the statement are judged by it: a claim made meanwhile is not
        # in its answer and not lost either.
        leases = self._held()
        if not leases:
            return
        since = self._clock.monotonic()
        try:
            claims = [lease.claim for lease in leases]
            kept = set(self._journal.renew(claims, lease=self._length))
        except StoreError as error:
            log.warning("heartbeat failed", extra={"error": str(error)})
            return
        for lease in leases:
            if lease.claim in kept:
                lease.extend(since=since)
            else:
                lease.lose()

    def close(self) -> None:
        """Stop the threads; claims still held end with their leases."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    @property
    def held(self) -> int:
        """The number of turns this process works on now."""
        return len(self._held())

    def _held(self) -> list[Lease]:
        with self._lock:
            return list(self._leases.values())

    def _start(self) -> None:
        if not self._threads:
            self._threads = (
                Thread(target=self._run, name="runner-heartbeat", daemon=True),
                Thread(target=self._watch, name="runner-leases", daemon=True),
            )
            for thread in self._threads:
                thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(self._length.total_seconds() / 4):
            try:
                self.beat()
            except Exception:
                # The thread must outlive any one beat; leases it cannot renew end by themselves.
                log.exception("heartbeat failed")

    def _watch(self) -> None:
        while not self._stopped.wait(self._length.total_seconds() / 20):
            for lease in self._held():
                if lease.is_over:
                    lease.lose()
