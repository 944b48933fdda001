"""Tools whose effects are lines of a file, and that wait where a test wants them to."""  # noqa: INP001 - copied, never imported from here

import os
import signal
from pathlib import Path
from threading import Event

from runner import ToolContext

ROOT = Path(__file__).parents[1]


def act(name: str, context: ToolContext, seconds: float = 0) -> str:
    """Have an effect, after some time and once the gate of that name is open."""
    _write_down("begin", name, context)
    Event().wait(seconds)
    while (ROOT / "gates" / name).exists():
        Event().wait(0.02)
    _write_down("end", name, context)
    return name


def hang(context: ToolContext) -> None:
    """Never come back."""
    _write_down("begin", "hang", context)
    Event().wait()


def die(context: ToolContext) -> None:
    """Take the process along."""
    _write_down("begin", "die", context)
    os.kill(os.getpid(), signal.SIGKILL)


def _write_down(what: str, name: str, context: ToolContext) -> None:
    line = f"{what}|{name}|{context.idempotency_key}|{os.getpid()}\n"
    file = os.open(ROOT / "ledger", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
