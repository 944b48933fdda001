"""Pages of documentation, taken apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.example_project import REPOSITORY

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_PATH: Final = re.compile(r"(?:# (\S+\.\w+)|<!-- (\S+\.\w+) -->)\n")
_WORD: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of code."""

    language: str
    text: str

    @property
    def path(self) -> str:
        """The file that its first line, a comment, says it is."""
        found = _PATH.match(self.text)
        return found[1] or found[2] if found else ""

    @property
    def content(self) -> str:
        """What the file has in it: a comment in Markdown is no part of it."""
        return self.text.partition("\n")[2] if self.text.startswith("<!--") else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its rows by what is marked as code in their first cell."""

    heading: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(REPOSITORY).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def prose(self) -> str:
        """The text without its code."""
        return _FENCE.sub("", self.text)

    @property
    def headings(self) -> Sequence[str]:
        return _HEADING.findall(self.prose)

    def blocks(self, language: str) -> Sequence[Block]:
        return [
            Block(language=language, text=text)
            for found, text in _FENCE.findall(self.text)
            if found == language
        ]

    def tables(self, heading: str) -> Sequence[Table]:
        """The tables below a heading, before the next one."""
        _, found, rest = self.prose.partition(f"# {heading}\n")
        assert found, f"{self.name} has no heading {heading!r}"
        section = _HEADING.split(rest)[0]
        groups = re.findall(r"(?:^\|.*\n?)+", section, re.MULTILINE)
        return [_table(heading, group.splitlines()) for group in groups]


def _table(heading: str, lines: Sequence[str]) -> Table:
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return Table(
        heading=heading,
        columns=header,
        rows={name: cells[1:] for cells in rows for name in _WORD.findall(cells[0])},
    )


PAGES: Final = tuple(
    Page(path=path) for path in (REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/*.md")))
)


def page(name: str) -> Page:
    return Page(path=REPOSITORY / name)
