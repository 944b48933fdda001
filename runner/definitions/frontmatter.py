"""A SKILL.md taken apart; what others wrote is read as far as its meaning is plain."""

import re
from dataclasses import dataclass
from typing import Final

from runner.definitions.codes import Code
from runner.definitions.nodes import Mapping
from runner.definitions.problem import Problem, Severity
from runner.definitions.source import Source
from runner.definitions.yaml_tree import MAX_BYTES, Parsed, parse

_OPENING: Final = re.compile(r"---[ \t]*\n")
_CLOSING: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
#: A key with the beginning of its value, which is neither quoted nor anything else than text.
_ENTRY: Final = re.compile(r"^( *)([A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{&*!%@`#].*)$")
_BLOCK: Final = re.compile(r"^( *)[\w-]+:[ \t]+[|>]")
_STRAY_COLON: Final = re.compile(r":(?=[ \t]|$)", re.MULTILINE)
_HINT: Final = "begin the file with a line of three dashes, the keys name and description, and ---"
_QUOTE: Final = "put it in quotes, so that every program reads it alike"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What a SKILL.md is made of."""

    source: Source
    #: Its keys and values; None where they cannot be read.
    node: Mapping | None
    #: The text behind the frontmatter.
    body: str
    problems: tuple[Problem, ...]


def read_frontmatter(data: bytes, path: str) -> Frontmatter:
    """Take a SKILL.md apart; `path` is the one that problems name."""
    text = _text(data)
    if text is None:
        return _refused(parse(data, path))
    source = Source(path, text)
    opening = _OPENING.match(text)
    if opening is None:
        return _lost(source, "a SKILL.md begins with its frontmatter")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return _lost(source, "the frontmatter is not closed by a line of three dashes")
    head = text[opening.end() : closing.start()]
    parsed, warnings = _parsed(head, path)
    problems = (*parsed.problems, *warnings)
    if not parsed.complete:
        return Frontmatter(source=source, node=None, body="", problems=problems)
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0], Mapping):
        return _lost(source, "the frontmatter is not a list of keys with their values")
    body = text[closing.end() :].strip()
    return Frontmatter(source=source, node=parsed.documents[0], body=body, problems=problems)


def _text(data: bytes) -> str | None:
    """Read a file's bytes, with one kind of line break; None where a reader of YAML refuses."""
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parsed(head: str, path: str) -> tuple[Parsed, list[Problem]]:
    """Parse the frontmatter; where it is no YAML, once more with quotes around plain texts."""
    parsed = _parse(head, path)
    if parsed.complete:
        return parsed, []
    mended, lines = _with_quotes(head)
    again = _parse(mended, path)
    if not lines or not again.complete:
        return parsed, []
    return again, [
        parsed.source.problem(
            Code.UNQUOTED_TEXT,
            "the text holds a colon and is not in quotes",
            at=(line, column),
            hint=_QUOTE,
            severity=Severity.WARNING,
        )
        for line, column in lines
    ]


def _parse(head: str, path: str) -> Parsed:
    # With the dashes above it, every line has the number it has in the file.
    return parse(f"---\n{head}".encode(), path)


def _with_quotes(head: str) -> tuple[str, list[tuple[int, int]]]:
    """Put quotes around texts that hold a colon; return where in the file these begin."""
    lines = head.split("\n")
    places: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        end = _end_of_value(lines, index)
        entry = _ENTRY.match(lines[index])
        if entry is not None and _STRAY_COLON.search(
            "\n".join([entry[3], *lines[index + 1 : end]])
        ):
            places.append((index + 2, entry.start(3) + 1))
            lines[index:end] = _quoted(lines[index:end], entry.start(3))
        index = end if entry or _BLOCK.match(lines[index]) else index + 1
    return "\n".join(lines), places


def _end_of_value(lines: list[str], index: int) -> int:
    """Where the value of a key ends that begins on a line: behind what is indented further."""
    indent = _indent(lines[index])
    end = index + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    while end > index + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _quoted(lines: list[str], start: int) -> list[str]:
    first, *more = lines
    texts = [first[start:], *more]
    texts = [text.replace("'", "''") for text in texts]
    texts[-1] = texts[-1].rstrip() + "'"
    return [f"{first[:start]}'{texts[0]}", *texts[1:]]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _lost(source: Source, message: str) -> Frontmatter:
    problem = source.problem(Code.BAD_FRONTMATTER, message, hint=_HINT)
    return Frontmatter(source=source, node=None, body="", problems=(problem,))


def _refused(parsed: Parsed) -> Frontmatter:
    return Frontmatter(source=parsed.source, node=None, body="", problems=parsed.problems)
