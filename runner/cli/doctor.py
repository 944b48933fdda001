"""`runner doctor`: say what is missing or does not answer."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.text import Text

from runner.bootstrap.runner import Runner
from runner.cli.amounts import counts
from runner.cli.checking import checks_of
from runner.cli.checks import Check, CheckStatus
from runner.cli.console import console, print_json, print_table, print_text
from runner.cli.failures import FAILED
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.reading import read_project
from runner.core.errors import StoreError
from runner.core.jsonvalue import JsonObject
from runner.definitions.project import Project
from runner.definitions.report import summary
from runner.definitions.requirements import Requirement, requirements

app = typer.Typer(add_completion=False)


@app.command()
def doctor(
    ctx: typer.Context,
    audit: Annotated[
        bool, typer.Option("--audit", help="Also check all that is stored against the rules.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """
    Say what is missing or does not answer.

    Exits with 1 when something is wrong. Looks at the variables that the files need (never at
    their values), the definitions, the database and its schema, the broker, and the clients; one
    with a key is asked for a few tokens. With --audit the whole store is read.
    """
    project = read_project(ctx)
    needed = requirements(project.uses)
    checks = list(_checks(ctx, project, needed, audit=audit))
    if as_json:
        print_json(
            {
                "variables": [_variable_json(one) for one in needed],
                "checks": [one.to_json() for one in checks],
            }
        )
    else:
        _print(needed, checks)
    return FAILED if any(one.failed for one in checks) else 0


def _checks(
    ctx: typer.Context, project: Project, needed: Sequence[Requirement], *, audit: bool
) -> Iterator[Check]:
    yield _variables_check(needed)
    yield _definitions_check(project)
    with open_runner(ctx) as runner:
        if runner.wiring.loaded.is_sound:
            yield from checks_of(runner)
            yield from _turns_check(runner)
            if audit:
                yield from _audit_checks(runner)


def _variables_check(needed: Sequence[Requirement]) -> Check:
    missing = [one.name for one in needed if not one.is_met]
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        return Check(name="variables", status=CheckStatus.FAILED, message=f"not set: {names}")
    return Check(name="variables", status=CheckStatus.OK, message="all that are needed are set")


def _definitions_check(project: Project) -> Check:
    message = f"{counts(project.registry)}, {summary(project.problems)}"
    if project.is_sound:
        return Check(name="definitions", status=CheckStatus.OK, message=message)
    hint = "run `runner validate` to see them"
    return Check(name="definitions", status=CheckStatus.FAILED, message=f"{message}; {hint}")


def _turns_check(runner: Runner) -> Iterator[Check]:
    """Tell of turns that nobody is responsible for, where the database can be asked."""
    try:
        unattended = runner.unattended()
    except StoreError:
        return
    for turn_id, what in unattended:
        yield Check(name="turn", status=CheckStatus.FAILED, message=f"{turn_id}: {what}")
    if not unattended:
        message = "somebody is responsible for each that has not ended"
        yield Check(name="turns", status=CheckStatus.OK, message=message)


def _audit_checks(runner: Runner) -> Iterator[Check]:
    """Tell of what is stored and must not be, where the database can be asked."""
    try:
        findings = runner.audit()
    except StoreError:
        return
    for one in findings:
        where = f"{one.turn_id}: " if one.turn_id else ""
        message = f"{where}{one.message} ({one.rule})"
        yield Check(name="audit", status=CheckStatus.FAILED, message=message)
    if not findings:
        message = "everything that is stored is as it must be"
        yield Check(name="audit", status=CheckStatus.OK, message=message)


def _variable_json(one: Requirement) -> JsonObject:
    return {
        "path": one.path,
        "line": one.line,
        "name": one.name,
        "is_set": one.is_set,
        "is_required": one.is_required,
    }


def _print(needed: Sequence[Requirement], checks: Sequence[Check]) -> None:
    out = console()
    if needed:
        rows = [(one.name, _state(one), f"{one.path}:{one.line}") for one in needed]
        print_table(out, ("VARIABLE", "IS", "NEEDED BY"), rows)
        out.print(Text())
    width = max(len(one.name) for one in checks)
    for one in checks:
        print_text(out, one.line(width=width))


def _state(one: Requirement) -> str:
    if one.is_set:
        return "set"
    return "not set" if one.is_required else "not set (has a default)"
