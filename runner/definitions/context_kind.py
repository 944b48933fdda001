"""What makes a contributor's definition whole and right, beyond its form."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never
from urllib.parse import parse_qsl

from runner.core.errors import PathRefused
from runner.definitions import sql_text
from runner.definitions.codes import Code
from runner.definitions.context import (
    CommandContext,
    ContextDefinition,
    FileContext,
    HttpCall,
    HttpContext,
    PythonContext,
    SqlContext,
    TextContext,
)
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.paths import read_file
from runner.definitions.placeholders import (
    Deferred,
    Placeholder,
    checked,
    has_variables,
    pieces,
    without_variables,
)
from runner.definitions.problem import Problem
from runner.definitions.python_references import find_module, parse_reference
from runner.definitions.surroundings import Surroundings
from runner.definitions.variants import nearest

#: Names of headers, variables and parameters whose values are secrets.
_SECRETIVE: Final = re.compile(
    r"authorization|cookie|token|secret|passw|credential|api[-_]?key|(^|[-_])key$", re.IGNORECASE
)


def complete(
    context: ContextDefinition, document: Document, at: Path = ()
) -> tuple[ContextDefinition, list[Problem]]:
    """Make a contributor independent of the file it stands in."""
    match context:
        case FileContext():
            return _with_file(context, document, at)
        case CommandContext(cwd=str(folder)):
            try:
                cwd = document.base.folder_at(folder)
            except PathRefused as refused:
                return context, [_refusal(refused, document, (*at, "cwd"))]
            return context.model_copy(update={"cwd": cwd}), []
        case _:
            return context, []


def complete_entries(
    entries: Sequence[str | ContextDefinition], document: Document, at: Path
) -> tuple[tuple[str | ContextDefinition, ...], list[Problem]]:
    """Complete the contributors that are written in a list."""
    completed: list[str | ContextDefinition] = []
    problems: list[Problem] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, str):
            completed.append(entry)
            continue
        context, found = complete(entry, document, (*at, index))
        completed.append(context)
        problems += found
    return tuple(completed), problems


def check(
    context: ContextDefinition, document: Document, surroundings: Surroundings, at: Path = ()
) -> Iterator[Problem]:
    """Tell what in a contributor refers to what is not there, or cannot be meant."""
    match context:
        case PythonContext():
            yield from _check_python(context, document, surroundings, at)
        case HttpContext(http=call):
            yield from _check_http(call, document, (*at, "http"))
        case SqlContext():
            yield from _check_sql(context, document, surroundings, at)
        case CommandContext():
            yield from _check_command(context, document, at)
        case TextContext() | FileContext():
            return
        case _:
            assert_never(context)


def check_entries(
    entries: Sequence[str | ContextDefinition],
    document: Document,
    surroundings: Surroundings,
    at: Path,
) -> Iterator[Problem]:
    """Tell what is wrong in a list of contributors."""
    seen = set[str]()
    for index, entry in enumerate(entries):
        place: Path = (*at, index)
        name = entry if isinstance(entry, str) else entry.name
        if name in seen:
            message = f"the contributor {name!r} is in this list already"
            yield document.problem(place, Code.DUPLICATE_CONTEXT, message)
        elif not isinstance(entry, str):
            yield from check(entry, document, surroundings, place)
        elif name not in surroundings.contexts:
            meant = nearest(name, surroundings.contexts)
            hint = f"did you mean {meant!r}?" if meant else "define it in a file with kind: context"
            yield document.problem(
                place, Code.UNKNOWN_CONTEXT, f"no contributor {name!r}", hint=hint
            )
        seen.add(name)


def _with_file(
    context: FileContext, document: Document, at: Path
) -> tuple[ContextDefinition, list[Problem]]:
    place = (*at, "file")
    try:
        relative = _visible_file(context.file, document)
    except PathRefused as refused:
        return context, [_refusal(refused, document, place)]
    return context.model_copy(update={"file": relative}), []


def _visible_file(path: str, document: Document) -> str:
    """Return the path from the project's folder to a file that can be read."""
    read_file(document.base.resolve(path))
    relative = document.base.relative(path)
    if any(part.startswith(".") for part in relative.split("/")):
        raise PathRefused(Code.PATH_OUTSIDE, "hidden files are not read")
    return relative


def _refusal(refused: PathRefused, document: Document, at: Path) -> Problem:
    return document.problem(at, Code.named(refused.code), str(refused))


def _check_python(
    context: PythonContext, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if "python_modules" in surroundings.unsure:
        return
    module = parse_reference(context.python).module
    if find_module(module, surroundings.config.python_modules, surroundings.root) is None:
        yield document.problem(
            (*at, "python"),
            Code.MODULE_NOT_ALLOWED,
            f"the config does not list the module {module!r}",
            hint="list it, or the project folder it is in, under python_modules",
        )


def _check_http(call: HttpCall, document: Document, at: Path) -> Iterator[Problem]:
    if call.body is not None and call.method != "POST":
        message = "only a request with method: POST has a body"
        yield document.problem((*at, "body"), Code.KEY_CONFLICT, message, at_key=True)
    if call.max_redirects and call.method == "POST":
        message = "a POST follows no redirects"
        yield document.problem((*at, "max_redirects"), Code.KEY_CONFLICT, message, at_key=True)
    yield from _check_body(call.body, document, (*at, "body"))
    if any(_SECRETIVE.search(name) for name, _ in _written_query(call)):
        yield _secret((*at, "url"), document)
    yield from _check_secrets(call.headers, document, (*at, "headers"))
    yield from _check_secrets(call.query, document, (*at, "query"))


def _check_body(value: object, document: Document, at: Path) -> Iterator[Problem]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _check_body(inner, document, (*at, key))
        case list():
            for index, inner in enumerate(value):
                yield from _check_body(inner, document, (*at, index))
        case str():
            try:
                pieces(value)
            except ValueError as error:
                yield document.problem(at, Code.BAD_TEMPLATE, str(error))
        case _:
            return


def _check_sql(
    context: SqlContext, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    databases = surroundings.config.databases
    if "databases" not in surroundings.unsure and context.database not in databases:
        meant = nearest(context.database, databases)
        yield document.problem(
            (*at, "database"),
            Code.UNKNOWN_DATABASE,
            f"the config declares no database {context.database!r}",
            hint=f"did you mean {meant!r}?" if meant else "declare it under databases",
        )
    if not sql_text.is_one(context.sql):
        yield document.problem((*at, "sql"), Code.BAD_SQL, "expected one SQL statement")
    named = sql_text.parameters(context.sql)
    for name in named:
        if name not in context.parameters:
            message = f"nothing is bound to the parameter {name!r}"
            hint = "give it a value under parameters"
            yield document.problem((*at, "sql"), Code.BAD_SQL, message, hint=hint)
    for name in context.parameters:
        if name not in named:
            place = (*at, "parameters", name)
            message = f"the statement has no parameter {name!r}"
            yield document.problem(place, Code.BAD_SQL, message, at_key=True)


def _check_command(context: CommandContext, document: Document, at: Path) -> Iterator[Problem]:
    if any(isinstance(piece, Placeholder) for piece in pieces(str(context.command[0]))):
        message = "the program itself is fixed; only its arguments may name values"
        yield document.problem((*at, "command", 0), Code.BAD_TEMPLATE, message)
    yield from _check_secrets(context.env, document, (*at, "env"))


def _check_secrets(
    values: Mapping[str, Deferred], document: Document, at: Path
) -> Iterator[Problem]:
    """Tell that a secret is written down where it should be named."""
    for name, value in values.items():
        written = str(value)
        is_named = has_variables(written) or any(
            isinstance(piece, Placeholder) for piece in pieces(checked(written))
        )
        if written and not is_named and _SECRETIVE.search(name):
            yield _secret((*at, name), document)


def _written_query(call: HttpCall) -> list[tuple[str, str]]:
    """Return the parameters in a URL whose values stand there, and come from nowhere else."""
    query = without_variables(str(call.url), "{}").partition("?")[2].partition("#")[0]
    return [pair for pair in parse_qsl(query) if "{" not in pair[1]]


def _secret(at: Path, document: Document) -> Problem:
    return document.problem(
        at,
        Code.SECRET_IN_FILE,
        "this is to be a secret, and secrets do not stand in files",
        hint="write the name of a variable that holds it: ${NAME}",
    )
