"""The text of a file that is being read, and the problems found in it."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from runner.definitions.codes import Code
from runner.definitions.nodes import Scalar
from runner.definitions.problem import Location, Problem, Severity

#: Stands for each character of what must stay hidden, so that columns stay true.
STAR: Final = "*"

#: How many problems of one file are worth listing.
MAX_PROBLEMS: Final = 100

#: How much of a line is shown with a problem.
MAX_LINE: Final = 300

_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_VALUE: Final = re.compile(r"^(\s*(?:-\s+)*(?:[\w.-]+:)?\s*)(\S.*)$")


class Source:
    """One file's text."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines: Final = _BREAK.split(text)

    def problem(  # a problem has that many sides
        self,
        code: Code,
        message: str,
        *,
        at: tuple[int, int] = (1, 1),
        hint: str = "",
        severity: Severity = Severity.ERROR,
        related: tuple[Location, ...] = (),
    ) -> Problem:
        """Make a problem at a line and column, moved into the file where they lie outside."""
        location = self.location(*at)
        return Problem(
            path=self.path,
            line=location.line,
            column=location.column,
            code=code,
            message=message,
            severity=severity,
            hint=hint,
            related=related,
        )

    def location(self, line: int, column: int) -> Location:
        """A place in this file, moved into it where it lies outside."""
        inside = min(max(line, 1), len(self.lines))
        if inside > 1 and inside == len(self.lines) and not self.lines[-1]:
            inside -= 1
        width = len(self.lines[inside - 1]) + 1
        return Location(
            path=self.path, line=inside, column=min(column if inside == line else width, width)
        )

    def show(self, problems: Iterable[Problem], hidden: Iterable[Scalar]) -> tuple[Problem, ...]:
        """Put the source line into each problem, with what must stay hidden replaced by stars."""
        first = self._first(problems)
        lines = self._masked({problem.line for problem in first}, hidden)
        return tuple(replace(problem, source_line=lines[problem.line]) for problem in first)

    def show_keys(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Put the source line into each problem, without anything that could be a value."""
        return tuple(
            replace(
                problem, source_line=_VALUE.sub(_stars, self.lines[problem.line - 1][:MAX_LINE])
            )
            for problem in self._first(problems)
        )

    def _masked(self, numbers: set[int], hidden: Iterable[Scalar]) -> dict[int, str]:
        """The beginnings of some lines, with a star for each character of a hidden value."""
        shown = {number: list(self.lines[number - 1][:MAX_LINE]) for number in numbers}
        for scalar in hidden:
            for number in numbers & set(range(scalar.line, scalar.end_line + 1)):
                line = shown[number]
                start = scalar.column - 1 if number == scalar.line else _indent(line)
                end = scalar.end_column - 1 if number == scalar.end_line else len(line)
                line[start:end] = STAR * len(line[start:end])
        return {number: "".join(line) for number, line in shown.items()}

    def _first(self, problems: Iterable[Problem]) -> list[Problem]:
        found = sorted(problems)
        if len(found) <= MAX_PROBLEMS:
            return found
        message = f"only the first {MAX_PROBLEMS} problems of this file are listed"
        last = found[MAX_PROBLEMS]
        more = self.problem(Code.TOO_MANY_PROBLEMS, message, at=(last.line, last.column))
        return [*found[:MAX_PROBLEMS], more]


def _indent(line: list[str]) -> int:
    return len(line) - len("".join(line).lstrip())


def _stars(match: re.Match[str]) -> str:
    return match[1] + STAR * len(match[2])
