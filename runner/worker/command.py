"""Becomes a worker: the same as `dramatiq runner.worker` with the config's numbers."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from runner.bootstrap.wiring import Wiring
from runner.definitions.config import Config
from runner.definitions.config_loader import VARIABLE
from runner.worker.process import WorkerProcess


def run_worker(
    config_path: Path | None, *, processes: int | None = None, threads: int | None = None
) -> NoReturn:
    """
    Check that a worker can run, say so in a line, and become it.

    The process is replaced, so that signals reach the worker and its exit code is the program's.

    Args:
        config_path: The config; None looks for it as everywhere.
        processes: In place of the config's number.
        threads: Per process, in place of the config's number.

    Raises:
        RunnerError: The config, the database or its schema is not fit for work.
    """
    wiring = Wiring(config_path)
    config = wiring.config
    _check(wiring)
    count = processes or config.worker.processes
    each = threads or config.worker.threads
    sys.stdout.write(_start_line(config, wiring.loaded.path, count, each))
    sys.stdout.flush()
    environ = dict(os.environ)
    if wiring.loaded.path is not None:
        environ[VARIABLE] = str(wiring.loaded.path.resolve())
    os.execve(sys.executable, _arguments(config, count, each), environ)  # noqa: S606 - no shell


def _check(wiring: Wiring) -> None:
    """Open what every process will open, so that what is wrong is said once."""
    try:
        WorkerProcess(wiring).open()
    finally:
        wiring.close()


def _start_line(config: Config, path: Path | None, processes: int, threads: int) -> str:
    many = "process" if processes == 1 else "processes"
    return (
        f"worker: {processes} {many} of {threads} threads, "
        f"config {path or 'embedded default'}, database {config.database.url}, "
        f"broker {config.broker.url}, queue {config.broker.queue}\n"
    )


def _arguments(config: Config, processes: int, threads: int) -> list[str]:
    grace = int(config.worker.grace.total_seconds() * 1000)
    return [
        sys.executable,
        "-P",  # nothing in the current folder is taken for a module
        "-m",
        "dramatiq",
        "runner.worker",
        "--path",
        "--processes",
        str(processes),
        "--threads",
        str(threads),
        "--worker-shutdown-timeout",
        str(grace),
        "--skip-logging",
    ]
