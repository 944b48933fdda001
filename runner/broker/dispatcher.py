"""Sends wake-ups: through a broker, or nowhere."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from dramatiq import Broker, Message

from runner.broker.reasons import reason_of
from runner.core.errors import DispatchFailed
from runner.core.ids import TurnId

#: The actor that every wake-up is for.
RUN_TURN: Final = "run_turn"
#: Seconds a dispatch may take; whoever waits for it has stored a turn and wants to go on.
_PATIENCE: Final = 5.0


def wake_up(turn_id: TurnId, queue: str) -> Message[None]:
    """Write the message that asks for a turn to be worked on."""
    return Message(queue_name=queue, actor_name=RUN_TURN, args=(turn_id,), kwargs={}, options={})


class SilentDispatcher:
    """Sends nothing, because whoever works on turns looks for them."""

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        """Leave *turn_ids* to be found."""

    def close(self) -> None:
        """Let go of nothing."""


class BrokerDispatcher:
    """
    Sends wake-ups through a broker.

    One thread sends for all, so that there is one connection however many threads dispatch, and
    nobody waits longer than the time limit for a broker that does not answer.
    """

    def __init__(
        self, broker: Broker, queue: str, *, address: str, patience: float = _PATIENCE
    ) -> None:
        self._broker = broker
        self._queue = queue
        #: The broker's URL without its password.
        self._address = address
        self._patience = patience
        self._sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runner-dispatch")

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        """
        Send one wake-up for each turn.

        Raises:
            DispatchFailed: At least one could not be sent.
        """
        if not turn_ids:
            return
        sending = self._submit(turn_ids)
        try:
            sending.result(self._patience)
        except TimeoutError as error:
            sending.cancel()
            reason = f"it did not answer within {self._patience:g} seconds; is it running?"
            raise self._failed(reason) from error
        except Exception as error:
            # Each broker's library has errors of its own; for a wake-up they are all the same.
            raise self._failed(reason_of(error)) from error

    def close(self) -> None:
        """Let go of the connection."""
        self._sender.shutdown(cancel_futures=True)
        self._broker.close()

    def _submit(self, turn_ids: Sequence[TurnId]) -> Future[None]:
        try:
            return self._sender.submit(self._send, tuple(turn_ids))
        except RuntimeError as error:
            raise self._failed("the connection was closed") from error

    def _send(self, turn_ids: Sequence[TurnId]) -> None:
        for turn_id in turn_ids:
            self._broker.enqueue(wake_up(turn_id, self._queue))

    def _failed(self, reason: str) -> DispatchFailed:
        return DispatchFailed(f"cannot reach the broker at {self._address}: {reason}")
