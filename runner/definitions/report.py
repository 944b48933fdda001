"""Problems as text for people, as JSON for programs, and as annotations for GitHub."""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from runner.definitions.problem import Problem, Severity

_ESCAPES: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY_ESCAPES: Final = {**_ESCAPES, ":": "%3A", ",": "%2C"}
_WIDE: Final = frozenset({"F", "W"})


def as_text(problems: Iterable[Problem]) -> Iterator[str]:
    """Lines for people: each problem, its source line with a caret, and its hint."""
    for problem in problems:
        yield f"{problem.location}: {problem.severity}: {problem.message} [{problem.code}]"
        if problem.source_line.strip() and problem.column <= len(problem.source_line) + 1:
            yield f"    {_printable(problem.source_line)}"
            yield f"    {_indent(problem.source_line[: problem.column - 1])}^"
        yield from (f"    see {place}" for place in problem.related)
        if problem.hint:
            yield f"    {problem.hint}"


def as_json(problems: Iterable[Problem]) -> str:
    """A JSON list of all that is known of each problem."""
    return json.dumps([problem.to_json() for problem in problems], indent=2)


def as_github(problems: Iterable[Problem]) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the lines of the files."""
    for problem in problems:
        level = "error" if problem.severity is Severity.ERROR else "warning"
        properties = {
            "file": problem.path,
            "line": str(problem.line),
            "col": str(problem.column),
            "title": problem.code.value,
        }
        listed = ",".join(
            f"{key}={_escape(value, _PROPERTY_ESCAPES)}" for key, value in properties.items()
        )
        text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        yield f"::{level} {listed}::{_escape(text, _ESCAPES)}"


def summary(problems: Iterable[Problem]) -> str:
    """How many errors and warnings there are, in words."""
    severities = [problem.severity for problem in problems]
    counts = {severity: severities.count(severity) for severity in Severity}
    parts = [
        f"{count} {severity}{'s' if count > 1 else ''}"
        for severity, count in counts.items()
        if count
    ]
    return " and ".join(parts) or "no problems"


def _indent(before: str) -> str:
    """Space as wide as some text, so that a caret stands below what follows it."""
    return "".join(
        "\t" if character == "\t" else "  " if _is_wide(character) else " " for character in before
    )


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in _WIDE


def _printable(line: str) -> str:
    return "".join(
        character if character.isprintable() or character == "\t" else "\N{REPLACEMENT CHARACTER}"
        for character in line
    )


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
