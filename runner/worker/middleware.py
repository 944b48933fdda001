"""Ties the life of a worker process to Dramatiq's."""

import os
from typing import Final, NoReturn, Protocol

from dramatiq import Broker, Middleware, Worker
from typing_extensions import override

from runner.core.errors import RunnerError
from runner.worker.logs import set_up_logs
from runner.worker.signals import on_stop_signals, stop_with_parent

#: Milliseconds after which idle threads look whether they are to end, and Redis is asked again.
_TIMEOUT: Final = 200
_STDERR: Final = 2


class Life(Protocol):
    """What has a beginning and an end."""

    def open(self) -> None: ...

    def start(self, worker: Worker) -> None: ...

    def stop(self) -> None: ...

    def insist(self) -> None: ...

    def close(self) -> None: ...


class Hooks(Middleware):
    """
    The only middleware of our brokers.

    Nothing limits the time or the age of a message, and nothing retries one: a message is a
    wake-up, and the database knows what is to be done.
    """

    def __init__(self, life: Life) -> None:
        self._life = life

    @override
    def after_process_boot(self, broker: Broker) -> None:
        """Open what work needs, or end the process with a sentence."""
        set_up_logs()
        try:
            self._life.open()
        except RunnerError as error:
            _refuse(str(error))
        except Exception as error:  # noqa: BLE001 - Dramatiq would log it and carry on
            _refuse(f"{type(error).__name__}: {error}")
        on_stop_signals(first=self._life.stop, more=self._life.insist)
        stop_with_parent()

    @override
    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Fetch no more than there are threads, so that no message waits behind a busy one."""
        worker.queue_prefetch = worker.worker_threads
        worker.delay_prefetch = 1
        worker.worker_timeout = _TIMEOUT
        self._life.start(worker)

    @override
    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._life.stop()

    @override
    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._life.close()


def _refuse(reason: str) -> NoReturn:
    # In a child of Dramatiq's, sys.stderr is a pipe that is not always read to its end.
    os.write(_STDERR, f"error: {reason}\n".encode())
    raise SystemExit(1)
