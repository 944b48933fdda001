"""Points that worker processes come by, and at which a test can hold one of them."""

import os
from pathlib import Path
from threading import Event

#: Seconds between two looks whether to go on.
_PERIOD = 0.02


class Stops:
    """
    The points of one project, shared by its processes through files.

    Whoever comes by a point first that is to be held stays there until it is let go or killed;
    the other threads of its process go on.
    """

    def __init__(self, root: Path) -> None:
        self._wanted = root / "stop-wanted"
        self._held = root / "stop-held"
        self._passed = root / "stop-passed"

    def reach(self, point: str) -> None:
        """Come by a point, from the inside of a worker."""
        _append(self._passed, f"{os.getpid()} {point}\n")
        if not self._take(point):
            return
        while self._held.exists():
            Event().wait(_PERIOD)

    def hold(self, point: str) -> None:
        """Hold whoever comes by *point* next."""
        part = self._wanted.with_suffix(".part")
        part.write_text(point)
        part.rename(self._wanted)

    @property
    def is_holding(self) -> bool:
        return self._held.exists()

    def let_go(self) -> None:
        """Let go of whoever is held."""
        self._held.unlink()

    @property
    def passed(self) -> list[tuple[int, str]]:
        """The points come by so far, in order, each with the process's id."""
        lines = self._passed.read_text().splitlines() if self._passed.exists() else []
        return [(int(pid), point) for pid, _, point in (line.partition(" ") for line in lines)]

    def _take(self, point: str) -> bool:
        """Be the one who is held, of any number of threads and processes."""
        try:
            if self._wanted.read_text() != point:
                return False
            self._wanted.rename(self._held)
        except FileNotFoundError:
            return False
        return True


def _append(path: Path, line: str) -> None:
    file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
