"""`runner reconcile`: repair what a crash left behind, and wake workers for all that is due."""

import typer

from runner.bootstrap.runner import Runner
from runner.cli.console import print_json
from runner.cli.failures import FAILED, complain
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.text import count
from runner.engine.sweep import SweepReport

app = typer.Typer(add_completion=False)


@app.command()
def reconcile(ctx: typer.Context, as_json: AsJson = False) -> int:
    """
    Repair what a crash left behind, and wake workers for all that is due.

    Workers do this by themselves every few seconds; doing it twice does no harm.
    """
    with open_runner(ctx) as runner:
        report = _sweep(runner)
    if as_json:
        print_json(
            {
                "released": list(report.released),
                "freed": list(report.freed),
                "due": list(report.due),
                "errors": list(report.errors),
            }
        )
    else:
        print(f"{count(len(report.released), 'turn')} taken back from workers that died")
        print(f"{count(len(report.freed), 'turn')} freed by one whose time was over")
        print(f"{count(len(report.due), 'turn')} due for a worker")
    for error in report.errors:
        complain(error)
    return FAILED if report.errors else 0


def _sweep(runner: Runner) -> SweepReport:
    """Sweep until there is nothing left to repair; each sweep takes a bounded batch."""
    total = report = runner.reconcile()
    while not report.errors and (report.released or report.freed):
        report = runner.reconcile()
        total = SweepReport(
            released=(*total.released, *report.released),
            freed=(*total.freed, *report.freed),
            due=tuple(dict.fromkeys((*total.due, *report.due))),
            errors=report.errors,
        )
    return total
