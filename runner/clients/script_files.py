"""Finds and reads the files of a scripted client."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from runner.clients.script import ScriptEntry
from runner.core.errors import ConfigError
from runner.definitions.codes import Code
from runner.definitions.nodes import Node, child
from runner.definitions.nodes import Sequence as SequenceNode
from runner.definitions.problem import Problem
from runner.definitions.source import Source
from runner.definitions.validation import schema_of, validate
from runner.definitions.yaml_tree import parse

_ENTRY: Final = schema_of(ScriptEntry)
_WILDCARDS: Final = frozenset("*?[")


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
    return tuple(entry for file in dict.fromkeys(files) for entry in _read(file, root, client))


def _files(pattern: str, root: Path, client: str) -> Sequence[Path]:
    if Path(pattern).is_absolute():
        raise ConfigError(f"client {client!r}: script {pattern!r} must be relative to the project")
    found = sorted(root.glob(pattern)) if _WILDCARDS & set(pattern) else [root / pattern]
    for file in found:
        if not file.resolve().is_relative_to(root.resolve()):
            raise ConfigError(f"client {client!r}: script {pattern!r} lies outside the project")
    return found


def _read(file: Path, root: Path, client: str) -> Iterator[ScriptEntry]:
    shown = file.relative_to(root).as_posix()
    try:
        parsed = parse(file.read_bytes(), shown)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"client {client!r}: cannot read script {shown!r}: {reason}") from error
    _refuse(parsed.problems, client)
    for document in parsed.documents:
        if not isinstance(document, SequenceNode):
            place = parsed.source.location(document.line, document.column)
            raise ConfigError(f"client {client!r}: {place}: expected a list of entries")
        for item in document.items:
            validated = validate(_ENTRY, item, parsed.source, {})
            entry = validated.value
            problems = validated.problems or (_flaws(entry, item, parsed.source) if entry else ())
            _refuse(problems, client)
            if entry is not None:
                yield entry


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
