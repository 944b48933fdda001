"""One mistake in a file, and where it is."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from typing_extensions import override

from runner.definitions.codes import Code

JsonRecord: TypeAlias = dict[str, str | int | list[dict[str, str | int]] | None]


class Severity(StrEnum):
    """Whether a problem keeps the definitions from being used."""

    #: They cannot be used until it is mended.
    ERROR = "error"
    #: They can be used, but probably do not say what was meant.
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Location:
    """A place in a file; lines and columns count from one."""

    path: str
    line: int
    column: int

    @override
    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """
    One mistake; problems sort by file, line and column.

    No attribute holds a value that may be a secret; in `source_line` such values are stars.
    """

    #: POSIX, relative to the project root.
    path: str
    #: From one.
    line: int
    #: From one, in characters.
    column: int
    code: Code
    message: str
    severity: Severity = Severity.ERROR
    #: The line of the file, or its beginning.
    source_line: str = field(default="", compare=False)
    #: What to do about it.
    hint: str = field(default="", compare=False)
    #: Other places that belong to it.
    related: tuple[Location, ...] = ()

    @property
    def location(self) -> Location:
        return Location(path=self.path, line=self.line, column=self.column)

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def to_json(self) -> JsonRecord:
        """All of it, as programs read it."""
        return {
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "code": self.code.value,
            "severity": self.severity.value,
            "message": self.message,
            "hint": self.hint or None,
            "source_line": self.source_line,
            "related": [
                {"path": place.path, "line": place.line, "column": place.column}
                for place in self.related
            ],
        }
