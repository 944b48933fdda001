"""Finds and reads the files of a scripted client."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runner.clients.script import ScriptEntry
from runner.core.errors import ConfigError, PathRefused
from runner.definitions.codes import Code
from runner.definitions.nodes import Node, Scalar, child
from runner.definitions.nodes import Sequence as SequenceNode
from runner.definitions.paths import Base, expand, read_file
from runner.definitions.problem import Problem
from runner.definitions.source import Source
from runner.definitions.validation import hidden, schema_of, validate
from runner.definitions.yaml_tree import parse

_ENTRY: Final = schema_of(ScriptEntry)
_WILDCARDS: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """What was found in one file."""

    entries: tuple[ScriptEntry, ...]
    problems: tuple[Problem, ...]


def load_scripts(
    patterns: Iterable[str], *, root: Path, client: str = "scripted"
) -> tuple[ScriptEntry, ...]:
    """
    Read every entry, in the order of *patterns*, of file names and of files.

    Args:
        patterns: Paths relative to *root*, or patterns such as `answers/*.yaml`; a pattern may
            match nothing.
        root: The project's folder, which no file may lie outside of.
        client: The client's name, for messages.

    Raises:
        ConfigError: A file is missing, lies outside, or is not a script.
    """
    files = [file for pattern in patterns for file in _files(pattern, root, client)]
    return tuple(entry for file in dict.fromkeys(files) for entry in _load(file, root, client))


def script_problems(patterns: Iterable[str], *, root: Path) -> tuple[Problem, ...]:
    """
    Tell what is wrong inside the files; that one is missing is told where it is named.

    Args:
        patterns: As for `load_scripts`.
        root: The project's folder.
    """
    base = Base(root=root, folder=root)
    files = dict.fromkeys(file for pattern in patterns for file in _found(base, pattern))
    return tuple(problem for file in files for problem in _problems(file, root))


def _files(pattern: str, root: Path, client: str) -> Sequence[Path]:
    if Path(pattern).is_absolute():
        raise ConfigError(f"client {client!r}: script {pattern!r} must be relative to the project")
    found = sorted(root.glob(pattern)) if _WILDCARDS & set(pattern) else [root / pattern]
    for file in found:
        if not file.resolve().is_relative_to(root.resolve()):
            raise ConfigError(f"client {client!r}: script {pattern!r} lies outside the project")
    return found


def _found(base: Base, pattern: str) -> Sequence[Path]:
    try:
        return expand(base, pattern)
    except PathRefused:
        return ()


def _problems(file: Path, root: Path) -> tuple[Problem, ...]:
    shown = file.relative_to(root).as_posix()
    try:
        return _read(read_file(file), shown).problems
    except PathRefused as refused:
        return (Source(shown, "").problem(Code.named(refused.code), str(refused)),)


def _load(file: Path, root: Path, client: str) -> Sequence[ScriptEntry]:
    shown = file.relative_to(root).as_posix()
    try:
        script = _read(file.read_bytes(), shown)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"client {client!r}: cannot read script {shown!r}: {reason}") from error
    _refuse(script.problems, client)
    return script.entries


def _read(data: bytes, shown: str) -> _Script:
    parsed = parse(data, shown)
    source = parsed.source
    entries: list[ScriptEntry] = []
    problems = list(parsed.problems)
    unseen: list[Scalar] = []
    for document in parsed.documents:
        if not isinstance(document, SequenceNode):
            at = (document.line, document.column)
            problems.append(source.problem(Code.WRONG_TYPE, "expected a list of entries", at=at))
            continue
        for item in document.items:
            validated = validate(_ENTRY, item, source, {})
            entry = validated.value
            problems += validated.problems or (_flaws(entry, item, source) if entry else ())
            unseen += hidden(item, _ENTRY.shape) if validated.problems else ()
            entries += [entry] if entry else ()
    return _Script(entries=tuple(entries), problems=source.show(problems, unseen))


def _flaws(entry: ScriptEntry, item: Node, source: Source) -> Sequence[Problem]:
    """Find what the model of an entry cannot say."""
    flaws = {}
    if not entry.answers:
        flaws["answers"] = "expected at least one answer"
    try:
        re.compile(entry.when or "")
    except re.error as error:
        flaws["when"] = f"not a regular expression: {error}"
    places = {key: child(item, key) or item for key in flaws}
    return [
        source.problem(Code.BAD_VALUE, message, at=(places[key].line, places[key].column))
        for key, message in flaws.items()
    ]


def _refuse(problems: Sequence[Problem], client: str) -> None:
    if not problems:
        return
    first, *others = problems
    hint = f" ({first.hint})" if first.hint else ""
    more = f", and {len(others)} more" if others else ""
    raise ConfigError(f"client {client!r}: {first.location}: {first.message}{hint}{more}")
