"""What follows once a turn was let go of: wake-ups, callbacks, abandoned children."""

import logging
from collections.abc import Sequence

from runner.core.coordination import Reach
from runner.core.errors import DispatchFailed
from runner.core.ids import TurnId
from runner.core.people import Controls
from runner.core.ports import Dispatcher
from runner.engine.courier import Courier
from runner.engine.driver import Driven

log = logging.getLogger(__name__)


class Aftermath:
    """Does at once what a sweep would otherwise have to find; nothing is lost without it."""

    def __init__(self, courier: Courier, controls: Controls, dispatcher: Dispatcher) -> None:
        self._courier = courier
        self._controls = controls
        self._dispatcher = dispatcher

    def follow(self, driven: Driven) -> None:
        """Set going what the end or the parking of a turn allows."""
        wake = list(driven.wake)
        for turn_id in driven.abandoned:
            # A turn that ended without what it was waiting for has no use for it any more.
            wake += self._controls.cancel(turn_id, reach=Reach.CASCADE).wake
        if driven.turn.status.is_ended:
            answer = self._courier.settle(driven.turn)
            wake += [answer] if answer else []
        self.wake(wake)

    def wake(self, turn_ids: Sequence[TurnId]) -> None:
        """Dispatch turns; what cannot be sent now a sweep makes up for."""
        if not turn_ids:
            return
        try:
            self._dispatcher.dispatch(turn_ids)
        except DispatchFailed as error:
            log.warning(
                "stored, and found by workers in time, but none was woken",
                extra={"turn_ids": list(turn_ids), "error": str(error)},
            )
