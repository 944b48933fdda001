"""`runner db`: look after the database's schema."""

from typing import Annotated

import typer

from runner.cli.opening import open_runner

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def db() -> None:
    """Look after the database's schema."""


@app.command()
def upgrade(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 unless it is current.")
    ] = False,
) -> None:
    """
    Bring the database to the schema this program needs.

    Stop the workers before: those of another version refuse to work with the new schema.
    """
    with open_runner(ctx) as runner:
        if check:
            print(f"the database has schema {runner.wiring.check_schema()}, as it must")
        else:
            print(f"the database has schema {runner.wiring.upgrade_schema()} now")
