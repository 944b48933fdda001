"""`runner worker`: work on submitted turns until stopped."""

from typing import Annotated

import typer

from runner.cli.reading import config_path

app = typer.Typer(add_completion=False)


@app.command()
def worker(
    ctx: typer.Context,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many; otherwise the config's worker.processes.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of each; otherwise the config's worker.threads.")
    ] = None,
) -> None:
    """
    Work on submitted turns until stopped.

    It is the same as `dramatiq runner.worker` with the numbers of the config. On ctrl-c, or
    SIGTERM, turns in progress are handed back with their committed steps.
    """
    from runner.worker.command import run_worker

    run_worker(config_path(ctx), processes=processes, threads=threads)
