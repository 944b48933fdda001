"""What `dramatiq tests.acceptance.lab.worker` loads: a worker that can be held at its stops."""

import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from dramatiq import actor, set_broker
from typing_extensions import override

from runner.bootstrap.wiring import Wiring
from runner.core.ids import TurnId
from runner.core.ports import ModelClient
from runner.store.store import Store
from runner.worker.process import WorkerProcess
from tests.acceptance.lab.held import HeldClient, HeldDeliveries, HeldIntake, HeldJournal
from tests.acceptance.lab.policies import FileAuthority
from tests.acceptance.lab.stops import Stops


class HeldWiring(Wiring):
    """The wiring of the product, with stops in its seams."""

    def __init__(self, config: Path) -> None:
        super().__init__(config, authority=FileAuthority(config.parent))
        self._stops = Stops(config.parent)

    @override
    @cached_property
    @override
    def store(self) -> Store:
        store, stops = super().store, self._stops
        return replace(
            store,
            journal=HeldJournal(store.database, stops),
            intake=HeldIntake(store.database, stops),
            deliveries=HeldDeliveries(store.database, stops),
        )

    @override
    def client(self, name: str) -> ModelClient:
        return HeldClient(super().client(name), self._stops)


_process = WorkerProcess(HeldWiring(Path(os.environ["RUNNER_CONFIG"])))
set_broker(_process.broker)


@actor(queue_name=_process.queue)
def run_turn(turn_id: str) -> None:
    """Work on a turn, if there is anything to do for it."""
    _process.work_on(TurnId(turn_id))


@actor(queue_name=_process.queue)
def maintain() -> None:
    """Repair what crashes left behind, and notice edited definitions."""
    _process.maintain()
