"""`runner validate`: say what is wrong with the project's files, and where."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner.cli.amounts import counts
from runner.cli.checks import Check
from runner.cli.console import STYLES, console, print_json, print_text
from runner.cli.failures import FAILED
from runner.cli.reading import read_project
from runner.cli.text import plain
from runner.definitions.config import ScriptedClient
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.report import as_github, as_text, summary

app = typer.Typer(add_completion=False)


class Format(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@app.command()
def validate(
    ctx: typer.Context,
    output: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TEXT,
    imports: Annotated[
        bool, typer.Option("--import", help="Also import the Python functions that are named.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Also try the database, the broker and the models.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> int:
    """
    Say what is wrong with the project's files, and where.

    Without --import and --check nothing is imported, run or connected to. Exits with 0 when
    there are no errors, with 1 when there are; warnings alone are no failure.
    """
    project = read_project(ctx)
    problems = project.problems
    if scripts := _scripts(project):
        from runner.clients.script_files import script_problems

        problems = tuple(sorted((*problems, *script_problems(scripts, root=project.root))))
    if imports and project.is_sound:
        from runner.cli.importing import import_problems

        problems = tuple(sorted((*problems, *import_problems(project))))
    checks: Sequence[Check] = ()
    if check and project.is_sound:
        from runner.cli.checking import service_checks

        checks = tuple(service_checks(ctx))
    match Format.JSON if as_json else output:
        case Format.JSON:
            print_json(_json(project, problems, checks))
        case Format.GITHUB:
            _print_annotations(problems, checks)
        case Format.TEXT:
            _print_report(project, problems, checks)
    sound = not any(problem.is_error for problem in problems)
    return 0 if sound and not any(one.failed for one in checks) else FAILED


def _scripts(project: Project) -> list[str]:
    """Return the files, or patterns, that scripted clients answer from."""
    clients = project.config.clients.values()
    return [
        script
        for client in clients
        if isinstance(client, ScriptedClient)
        for script in client.scripts
    ]


def _json(project: Project, problems: Sequence[Problem], checks: Sequence[Check]) -> object:
    return {
        "agents": len(project.registry.agents),
        "tools": len(project.registry.tools),
        "policies": len(project.registry.policies),
        "skills": len(project.registry.skills),
        "contributors": len(project.registry.contexts),
        "problems": [problem.to_json() for problem in problems],
        "checks": [one.to_json() for one in checks],
    }


def _print_annotations(problems: Sequence[Problem], checks: Sequence[Check]) -> None:
    for line in (*as_github(problems), *_check_annotations(checks)):
        print(plain(line))


def _check_annotations(checks: Sequence[Check]) -> Iterator[str]:
    for one in checks:
        if one.failed:
            message = one.message.replace("%", "%25").replace("\n", "%0A")
            yield f"::error title={one.name}::{message}"


def _print_report(project: Project, problems: Sequence[Problem], checks: Sequence[Check]) -> None:
    out = console()
    for problem in problems:
        _print_problem(out, problem)
    for one in checks:
        print_text(out, one.line())
    registry = project.registry
    counted = counts(registry)
    if any(problem.is_error for problem in problems):
        out.print(f"{summary(problems)}; free of errors: {counted}", style="red")
    else:
        out.print(f"{counted}, {summary(problems)}", style="green")
    if not registry.origins and not problems:
        folder = plain(str(project.root / project.config.agents_dir))
        print_text(out, f"nothing is in {folder}; write an agent with `runner new agent NAME`")


def _print_problem(out: Console, problem: Problem) -> None:
    first, *rest = as_text([problem])
    header = Text(plain(first))
    header.stylize("bold", 0, len(str(problem.location)))
    style = STYLES["failed" if problem.is_error else "warning"]
    header.stylize(style, len(str(problem.location)) + 2)
    print_text(out, header)
    for line in rest:
        print_text(out, Text(plain(line)))
