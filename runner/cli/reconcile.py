"""`runner reconcile`: repair what a crash left behind, and wake workers for all that is due."""

from collections.abc import Mapping, Sequence
from typing import Final

import typer

from runner.bootstrap.runner import Runner
from runner.cli.console import print_json
from runner.cli.failures import FAILED, complain
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.text import count
from runner.core.ids import TurnId
from runner.engine.sweep import SweepReport

app = typer.Typer(add_completion=False)

#: What is said of each kind of turn that sweeps find.
_SAID: Final[Mapping[str, str]] = {
    "released": "taken back from workers that died",
    "overdue": "out of time that held no worker",
    "joined": "whose wait is over",
    "expired": "of which nobody approved a call in time",
    "freed": "freed by one whose time was over",
    "called_back": "to answer a callback that was owed",
    "due": "due for a worker",
}


@app.command()
def reconcile(ctx: typer.Context, as_json: AsJson = False) -> int:
    """
    Repair what a crash left behind, and wake workers for all that is due.

    Workers do this by themselves every few seconds; doing it twice does no harm.
    """
    with open_runner(ctx) as runner:
        found, errors = _sweep(runner)
    if as_json:
        print_json({**found, "errors": errors})
    else:
        for kind, turn_ids in found.items():
            print(f"{count(len(turn_ids), 'turn')} {_SAID[kind]}")
    for error in errors:
        complain(error)
    return FAILED if errors else 0


def _sweep(runner: Runner) -> tuple[Mapping[str, Sequence[TurnId]], Sequence[str]]:
    """Sweep until there is nothing left to repair; each sweep takes a bounded batch."""
    total: dict[str, Sequence[TurnId]] = dict.fromkeys(_SAID, ())
    while True:
        report = runner.reconcile()
        found = _found(report)
        total = {kind: tuple(dict.fromkeys((*total[kind], *found[kind]))) for kind in total}
        # What is due stays so until somebody works on it.
        is_done = not any(turn_ids for kind, turn_ids in found.items() if kind != "due")
        if report.errors or is_done:
            return total, report.errors


def _found(report: SweepReport) -> Mapping[str, Sequence[TurnId]]:
    return {
        "released": report.released,
        "overdue": report.overdue,
        "joined": report.joined,
        "expired": report.expired,
        "freed": report.freed,
        "called_back": report.called_back,
        "due": report.due,
    }
