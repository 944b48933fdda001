"""What `dramatiq runner.worker` loads: the broker, and the two actors of a worker process."""

from dramatiq import actor, set_broker

from runner.bootstrap.wiring import Wiring
from runner.core.ids import TurnId
from runner.worker.process import WorkerProcess

_process = WorkerProcess(Wiring())
set_broker(_process.broker)


@actor(queue_name=_process.queue)
def run_turn(turn_id: str) -> None:
    """Work on a turn, if there is anything to do for it."""
    _process.work_on(TurnId(turn_id))


@actor(queue_name=_process.queue)
def maintain() -> None:
    """Repair what crashes left behind, and notice edited definitions."""
    _process.maintain()
