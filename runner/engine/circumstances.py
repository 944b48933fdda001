"""What surrounds the steps of one execution."""

from collections.abc import Callable
from dataclasses import dataclass

from runner.core.clock import Clock
from runner.core.model import Delta
from runner.engine.deadline import Deadline
from runner.engine.lease import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What surrounds a step of one execution."""

    lease: Lease
    deadline: Deadline
    clock: Clock
    #: Gives a number from 0 to 1, to keep executions from retrying in step.
    jitter: Callable[[], float]
    #: Seconds a retry may be waited for in here; a longer wait gives the turn back.
    patience: float
    on_delta: Callable[[Delta], None]
