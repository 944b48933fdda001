"""Tools whose effects are lines of a file, and that can be held before and after them."""  # noqa: INP001 - copied, never imported from here

import os
from pathlib import Path

from runner import ToolContext
from tests.acceptance.lab.stops import Stops

ROOT = Path(__file__).parents[1]


def act(name: str, context: ToolContext) -> str:
    """Have an effect, which is a line of the ledger."""
    stops = Stops(ROOT)
    _write_down("begin", name, context)
    stops.reach(f"tool {name} begun")
    _write_down("end", name, context)
    stops.reach(f"tool {name} done")
    return name


def _write_down(what: str, name: str, context: ToolContext) -> None:
    line = f"{what}|{name}|{context.idempotency_key}|{os.getpid()}\n"
    file = os.open(ROOT / "ledger", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
