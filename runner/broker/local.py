"""Wake-ups that a process gives itself."""

from collections.abc import Sequence
from threading import Lock

from dramatiq import Broker, ConsumerThread, Worker

from runner.broker.dispatcher import wake_up
from runner.core.ids import TurnId


class LocalDispatcher:
    """
    Wakes the threads of its own process, and none of a turn that is waiting for one already.

    Nothing that it was given needs to be kept: whatever is lost with the process is still due in
    the database.
    """

    def __init__(self, broker: Broker, queue: str) -> None:
        self._broker = broker
        self._queue = queue
        self._waiting = set[TurnId]()
        self._lock = Lock()
        broker.declare_queue(queue)

    def dispatch(self, turn_ids: Sequence[TurnId]) -> None:
        """Let a thread of this process look at each turn."""
        self.add(turn_ids)

    def add(self, turn_ids: Sequence[TurnId]) -> int:
        """Let a thread look at each turn, and return how many were not waiting yet."""
        with self._lock:
            added = [turn_id for turn_id in turn_ids if turn_id not in self._waiting]
            self._waiting.update(added)
        for turn_id in added:
            self._broker.enqueue(wake_up(turn_id, self._queue))
        return len(added)

    def take(self, turn_id: TurnId) -> None:
        """Say that a thread has begun to look at *turn_id*."""
        with self._lock:
            self._waiting.discard(turn_id)

    @property
    def waiting(self) -> int:
        """The number of turns that no thread looks at yet."""
        with self._lock:
            return len(self._waiting)

    def attach(self, worker: Worker) -> None:
        """Let the threads of *worker*, which has another broker, take from here as well."""
        if worker.broker is self._broker:
            return
        self._broker.actors.update(worker.broker.actors)
        consumer = ConsumerThread(
            broker=self._broker,
            queue_name=self._queue,
            prefetch=worker.worker_threads,
            work_queue=worker.work_queue,
            worker_timeout=worker.worker_timeout,
        )
        worker.consumers[self._queue] = consumer
        consumer.start()

    def close(self) -> None:
        """Let go of nothing."""
