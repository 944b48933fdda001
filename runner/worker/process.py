"""What lives in one worker process, from its boot to its end."""

import logging
import os
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Final

from dramatiq import Worker

from runner.bootstrap.wiring import Wiring
from runner.broker.dispatcher import BrokerDispatcher
from runner.broker.factory import is_in_process, open_broker
from runner.broker.local import LocalDispatcher
from runner.core.errors import RunnerError
from runner.core.ids import TurnId
from runner.definitions.config import BrokerConfig
from runner.worker.drain import Drain
from runner.worker.finder import Finder, Pace
from runner.worker.middleware import Hooks
from runner.worker.routine import Routine
from runner.worker.upkeep import Upkeep

log = logging.getLogger(__name__)

#: Seconds between two looks at the database of a process that finds all its work there.
_LONGEST_PAUSE: Final = 0.5


class WorkerProcess:
    """
    A worker process: the broker it consumes from, and what works on the turns.

    Making one opens nothing. A config that cannot be used shows when the process boots, because
    making one is part of importing a module, which should not end a program.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._error: RunnerError | None = None
        self._routines: tuple[Routine, ...] = ()
        self._look_again: Callable[[], None] = _do_nothing
        #: Turns that others should look at once this process has ended.
        self._left: list[TurnId] = []
        try:
            config = wiring.config.broker
            self.broker = open_broker(config.url.reveal(), [Hooks(self)])
        except RunnerError as error:
            self._error, config = error, BrokerConfig()
            self.broker = open_broker(config.url.reveal(), [Hooks(self)])
        self.queue = config.queue
        self._is_alone = is_in_process(config.url.reveal())
        if self._is_alone:
            self._local = LocalDispatcher(self.broker, self.queue)
            wiring.dispatcher = self._local
        else:
            self._local = LocalDispatcher(open_broker("memory://", []), f"{self.queue}.local")
            wiring.dispatcher = BrokerDispatcher(self.broker, self.queue, address=str(config.url))

    def open(self) -> None:
        """
        Open what turns need.

        Raises:
            RunnerError: The config, the database or its schema is not fit for work.
        """
        if self._error is not None:
            raise self._error
        _ = self._wiring.turn_worker, self._drain

    def start(self, worker: Worker) -> None:
        """Look for work and keep things in order beside the threads of *worker*."""
        interval = self._wiring.config.worker.interval
        pace = (
            Pace(quiet=timedelta(0), longest_pause=_LONGEST_PAUSE)
            if self._is_alone
            else Pace(quiet=interval, longest_pause=interval.total_seconds())
        )
        finder = Finder(self._wiring.store.sweeps, self._local, pace, threads=worker.worker_threads)
        self._local.attach(worker)
        seeking = Routine("runner-finder", finder.look)
        if self._is_alone:
            self._look_again = seeking.nudge
        self._routines = (seeking, Routine("runner-upkeep", self._keep_up))
        for routine in self._routines:
            routine.start()
        log.info("worker started", extra={"threads": worker.worker_threads, "queue": self.queue})

    def work_on(self, turn_id: TurnId) -> None:
        """Work on a turn unless the process is stopping; what goes wrong is only logged."""
        self._local.take(turn_id)
        worked = not self._drain.has_begun and self._work_on(turn_id)
        if self._drain.has_begun:
            self._left.append(turn_id)
        elif worked and not self._local.waiting:
            self._look_again()

    def maintain(self) -> None:
        """Repair what crashes left behind, and notice edited definitions."""
        self._upkeep.run()

    def stop(self) -> None:
        """Start nothing more and hand turns back."""
        self._drain.begin()
        for routine in self._routines:
            routine.stop()

    def insist(self) -> None:
        """Hand turns back at once."""
        self._drain.insist()

    def close(self) -> None:
        """Wake others for what is left and let go of everything."""
        self._wiring.turn_worker.wake(self._left)
        self._wiring.close()

    def _work_on(self, turn_id: TurnId) -> bool:
        try:
            return self._wiring.turn_worker.work_on(turn_id)
        except RunnerError as error:
            # Whatever was committed is kept, and the turn is found again.
            log.warning("turn left", extra={"turn_id": turn_id, "error": str(error)})
            return False

    def _keep_up(self) -> float:
        self.maintain()
        return self._wiring.config.worker.interval.total_seconds()

    @cached_property
    def _upkeep(self) -> Upkeep:
        return Upkeep(self._wiring.sweeper, self._wiring.catalog)

    @cached_property
    def _drain(self) -> Drain:
        return Drain(
            lambda: self._wiring.heartbeat,
            grace=self._wiring.config.worker.grace.total_seconds(),
            clock=self._wiring.clock,
            end_process=os._exit,
        )


def _do_nothing() -> None:
    """Stand in for what a process has no use for."""
