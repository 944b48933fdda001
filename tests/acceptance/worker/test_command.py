"""`runner worker`."""

import signal
import subprocess
import sys
from pathlib import Path

from runner.core.states import TurnStatus
from tests.acceptance.worker.project import Project
from tests.waiting import until


def test_the_command_says_what_it_starts_works_and_stops_on_a_signal(project: Project) -> None:
    turn = project.runner.submit("actor", "act once")

    with subprocess.Popen(
        [
            *(sys.executable, "-m", "runner", "--config", str(project.config)),
            *("worker", "--processes", "2", "--threads", "3"),
        ],
        cwd=project.root.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        ended = project.runner.wait(turn.id)
        command.send_signal(signal.SIGINT)
        said, complained = command.communicate(timeout=90)

    assert ended.status is TurnStatus.COMPLETED
    assert command.returncode == 0
    assert said.startswith("worker: 2 processes of 3 threads, ")
    assert said.count("\n") == 1
    assert project.queue in said
    assert complained == ""


def test_without_a_config_the_command_starts_a_worker_on_the_embedded_default(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "runner", "worker"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
        # From when it has children on, signals are kept for the handler it is about to have.
        until(children.read_text, "the worker to have processes")
        command.send_signal(signal.SIGTERM)
        said, complained = command.communicate(timeout=90)

    assert command.returncode == 0
    assert "config embedded default, database sqlite:///runner.db, broker memory://" in said
    assert complained == ""
