"""What people do to turns under way: cancel, pause, resume, steer."""

import logging

from runner.core.coordination import Input, Reach, Receipts
from runner.core.errors import RunnerError
from runner.core.ids import TurnId
from runner.core.people import Controls
from runner.engine.work import TurnWorker

log = logging.getLogger(__name__)


class Control:
    """Takes hold of turns from any process, whoever runs them, and whether anyone does."""

    def __init__(self, controls: Controls, worker: TurnWorker) -> None:
        self._controls = controls
        self._worker = worker

    def cancel(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Cancel a turn; what it has open is closed here and now where that is possible.

        Raises:
            NotFound: There is no such turn.
        """
        receipts = self._controls.cancel(turn_id, reach=reach)
        left = [each for each in receipts.wake if not self._close(each)]
        self._worker.wake(left)
        return receipts

    def pause(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Pause a turn; a running one finishes its current call first.

        Raises:
            NotFound: There is no such turn.
        """
        return self._controls.pause(turn_id, reach=reach)

    def resume(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Let a paused or stale turn go on, worked on by workers.

        Raises:
            NotFound: There is no such turn.
        """
        receipts = self._controls.resume(turn_id, reach=reach)
        self._worker.wake(receipts.wake)
        return receipts

    def steer(self, turn_id: TurnId, *, key: str, text: str) -> Input:
        """
        Give a turn new input.

        Raises:
            NotFound: There is no such turn.
            InvalidMove: It has ended.
            KeyConflict: The key was used for another text.
        """
        given = self._controls.steer(turn_id, key=key, text=text)
        # It goes on at once where it waits for people alone.
        self._worker.wake([turn_id])
        return given

    def _close(self, turn_id: TurnId) -> bool:
        """End a turn that is to be cancelled; a worker does it where this process cannot."""
        try:
            return self._worker.work_on(turn_id)
        except RunnerError as error:
            log.warning("left to a worker", extra={"turn_id": turn_id, "error": str(error)})
            return False
