"""People who answer approvals, each in a process of their own."""

import subprocess
import sys
from collections.abc import Sequence

from tests.acceptance.worker.project import Project


def at_once(project: Project, *commands: Sequence[str]) -> list[tuple[int, str]]:
    """Run commands at the same time, and return the exit code and output of each."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "runner", "--config", str(project.config), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for command in commands
    ]
    outputs = [process.communicate(timeout=90)[0] for process in started]
    return [(each.returncode, text) for each, text in zip(started, outputs, strict=True)]
