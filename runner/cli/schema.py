"""`runner schema`: write the JSON Schemas with which editors check definitions."""

from pathlib import Path
from typing import Annotated

import typer

from runner.cli.reading import read_config
from runner.cli.text import plain
from runner.definitions.editor_schema import write_schemas

app = typer.Typer(add_completion=False)


@app.command()
def schema(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where to write; otherwise the folder schemas of the project."),
    ] = None,
) -> None:
    """
    Write the JSON Schemas with which editors check definitions.

    A definition that begins with `# yaml-language-server: $schema=../schemas/agent.schema.json`
    is then completed and checked while it is written.
    """
    for path in write_schemas(folder or read_config(ctx).root / "schemas"):
        print(f"wrote {plain(str(path))}")
