"""Real worker processes, started, stopped and killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.acceptance.worker.project import Project
from tests.waiting import until

#: Where worker processes find the modules of these tests.
_SOURCE = str(Path(__file__).parents[3])


class Worker:
    """`dramatiq runner.worker` in a process group of its own, with its output in a file."""

    def __init__(
        self,
        project: Project,
        *,
        processes: int = 1,
        threads: int = 4,
        module: str = "runner.worker",
    ) -> None:
        self.log_file = _new_log(project.root)
        with self.log_file.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "dramatiq", module),
                    *("--processes", str(processes), "--threads", str(threads)),
                ],
                cwd=project.root,
                env=os.environ | {"RUNNER_CONFIG": str(project.config), "PYTHONPATH": _SOURCE},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        until(lambda: "worker started" in self.log or not self.is_alive, "the worker to start")

    def freeze(self) -> None:
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def ask_all_to_stop(self) -> None:
        self._signal_all(signal.SIGTERM)

    @property
    def children(self) -> list[int]:
        """The processes that do the work, by id."""
        pid = self._process.pid
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]

    def kill_parent(self) -> None:
        """Kill only the process that watches over the others."""
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """Kill the worker with all its processes, as a power cut would."""
        self._signal_all(signal.SIGKILL)
        self._process.wait()

    def wait(self) -> int:
        """Return the exit code once the worker has ended."""
        return self._process.wait(timeout=90)

    def _signal_all(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            """It has ended by itself."""


@contextmanager
def working(
    project: Project, *, processes: int = 1, threads: int = 4, module: str = "runner.worker"
) -> Iterator[Worker]:
    """Have a worker for as long as it is needed, and kill it then."""
    worker = Worker(project, processes=processes, threads=threads, module=module)
    try:
        yield worker
    finally:
        worker.kill()


def _new_log(folder: Path) -> Path:
    return folder / f"worker-{len(list(folder.glob('worker-*.log')))}.log"


def is_running(pid: int) -> bool:
    """Say whether a process has neither ended nor only to be buried."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
