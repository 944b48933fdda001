"""Commands as a person at a terminal has them."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from typing import Final

from tests.program import Program

#: Settings of the person who runs the tests that would change what is shown.
_OURS: Final = ("COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TERM")


class Terminal:
    """A command at a terminal of its own, in a project's folder."""

    def __init__(self, program: Program, *arguments: str, **environ: str) -> None:
        self._us, theirs = pty.openpty()
        inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "runner", *arguments],
            cwd=program.root,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**inherited, "TERM": "xterm", "COLUMNS": "100", **environ},
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def type(self, keys: str) -> None:
        """Press keys, unless the command has ended."""
        with suppress(OSError):
            os.write(self._us, keys.encode())

    def read_until(self, text: str) -> None:
        """Read until *text* has been shown after what was read before."""
        seen = len(self.shown)
        while text not in self.shown[seen:]:
            self.shown += os.read(self._us, 4096).decode(errors="replace")

    def read_to_the_end(self) -> int:
        """Read until the command has ended and return its exit code."""
        with suppress(OSError):  # Linux says so when the other end is closed
            while more := os.read(self._us, 4096):
                self.shown += more.decode(errors="replace")
        return self.process.wait(60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._us)
