"""`runner config`: show the config."""

from collections.abc import Iterator
from typing import Annotated

import typer

from runner.cli.console import console, print_json, print_table
from runner.cli.failures import FAILED, complain
from runner.cli.options import AsJson
from runner.cli.reading import read_config
from runner.cli.text import json_text
from runner.definitions.config_loader import LoadedConfig
from runner.definitions.report import summary

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def config() -> None:
    """Show the config."""


@app.command()
def show(
    ctx: typer.Context,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Show everything in force, defaults included.")
    ] = False,
    origins: Annotated[
        bool, typer.Option("--origins", help="Show where each value comes from.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """
    Show what the config file says, or with --resolved all that is in force.

    Secrets are shown as the variables they come from, or as stars.
    """
    loaded = read_config(ctx)
    values = {
        key: value
        for key, value in _leaves(loaded.resolved(), "")
        if resolved or _is_declared(loaded, key)
    }
    if as_json:
        shown: dict[str, object] = {"path": _path(loaded), "values": values}
        if origins:
            shown["origins"] = {key: loaded.origins.get(key) for key in values}
        print_json(shown)
    else:
        _print(loaded, values, origins=origins)
    if loaded.is_sound:
        return 0
    complain(f"the config has {summary(loaded.problems)}; run `runner validate` to see them")
    return FAILED


def _print(loaded: LoadedConfig, values: dict[str, object], *, origins: bool) -> None:
    if not values:
        print("there is no config file; see what is in force with --resolved")
        return
    rows = []
    for key, value in values.items():
        shown = value if isinstance(value, str) else json_text(value)
        rows.append([key, shown, *([loaded.origins.get(key, "")] if origins else [])])
    headings = ["KEY", "VALUE", *(["FROM"] if origins else [])]
    print_table(console(), headings, rows, wraps=("VALUE", "FROM"))


def _path(loaded: LoadedConfig) -> str | None:
    return None if loaded.path is None else str(loaded.path)


def _is_declared(loaded: LoadedConfig, key: str) -> bool:
    return loaded.path is not None and loaded.origins.get(key, "").startswith(
        f"{loaded.path.name}:"
    )


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield every value with its dotted key; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
