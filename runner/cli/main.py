"""The program: its global options, and the way from a command's name to its module."""

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typing_extensions import override

from runner.cli.commands import COMMANDS
from runner.cli.failures import exit_code_of
from runner.cli.logs import warnings_shown
from runner.core.jsonvalue import storable_text


class LazyGroup(TyperGroup):
    """Lists stand-ins for the commands, and loads the module of the one that is called."""

    @override
    def resolve_command(
        self,
        ctx: Any,  # Typer keeps the type of its contexts to itself
        args: list[str],
    ) -> tuple[str | None, TyperCommand | TyperGroup, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def load(name: str) -> TyperCommand | TyperGroup:
    """Return the command *name* with its options, importing its module."""
    app = import_module(COMMANDS[name].module).app
    command = cast("TyperCommand | TyperGroup", get_command(app))
    inner = command.commands.values() if isinstance(command, TyperGroup) else ()
    for each in (command, *inner):
        each.help = _in_paragraphs(each.help or "")
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 done, 1 failed, 2 misused, 130 interrupted."""
    _tolerate_any_text()
    debug = bool(os.environ.get("RUNNER_DEBUG"))
    command = get_command(_app())
    # What is no text is no id, no name and no message either, and no database would look for it.
    given = [storable_text(each) for each in (sys.argv[1:] if arguments is None else arguments)]
    with warnings_shown(debug=debug):
        return exit_code_of(
            lambda: command.main(args=given, prog_name="runner", standalone_mode=False),
            debug=debug,
        )


def _tolerate_any_text() -> None:
    """Let no character that a stream cannot hold end the program."""
    for stream, errors in (
        (sys.stdin, "replace"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _app() -> typer.Typer:
    app = typer.Typer(
        cls=LazyGroup,
        callback=_settle,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, listed in COMMANDS.items():
        app.command(name, help=listed.summary, rich_help_panel=listed.panel)(_stand_in)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"runner {version('agent-runner')}")
        raise typer.Exit


def _in_paragraphs(docstring: str) -> str:
    """Put each paragraph on one line, so that it is broken where the terminal ends."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))


def _stand_in() -> None:
    """Take a command's place in the list; `LazyGroup` never calls it."""


def _settle(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="PATH",
            help="The config file; otherwise RUNNER_CONFIG, then ./config.yaml, then defaults.",
        ),
    ] = None,
    show_version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Run LLM agents that are declared in YAML, durably."""
    ctx.obj = config
