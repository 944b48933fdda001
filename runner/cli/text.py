"""Text on its way to a terminal: nothing in it may be taken for a command to the terminal."""

import json
import re
import shutil
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from typing import Final, TextIO

from runner.core.jsonvalue import JsonValue

#: Whole commands to a terminal: colours and cursor moves, titles and links.
_COMMANDS: Final = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\))")
#: Control characters but tab and line feed, and the marks that turn the reading direction.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: What JSON may hold as it is and a terminal, or a reader of lines, would not take as text.
_UNSAFE_IN_JSON: Final = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SPACE: Final = re.compile(r"\s+")
_MINUTE: Final = 60  #: Seconds.
_WITH_TENTHS: Final = 10  #: Seconds, below which tenths are told.


def plain(text: str) -> str:
    """Drop what a terminal would obey instead of showing it."""
    shown = _CONTROLS.sub("", _COMMANDS.sub("", text.replace("\r\n", "\n")))
    return shown.expandtabs(4)


def one_line(text: str, limit: int = 0) -> str:
    """Put *text* on one line, cut at *limit* characters if that is given."""
    line = plain(_SPACE.sub(" ", text)).strip()
    return f"{line[: limit - 1]}…" if 0 < limit < len(line) else line


def folded(line: str, stream: TextIO) -> str:
    """Break a line between words where *stream* is a terminal; paths and ids stay whole."""
    if not stream.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def outline(value: JsonValue) -> Iterator[str]:
    """Lay out *value* for reading, with texts of several lines as they are."""
    match value:
        case str():
            yield from plain(value).split("\n")
        case {} if value:
            for key, inner in value.items():
                yield from _headed(f"{plain(key)}:", inner)
        case [_, *_]:
            for inner in value:
                yield from _headed("-", inner)
        case _:
            yield json_text(value)


def _headed(head: str, value: JsonValue) -> Iterator[str]:
    """Put a single line beside *head*, and all else moved in below it."""
    lines = list(outline(value))
    if len(lines) == 1 and (isinstance(value, str) or lines[0] == json_text(value)):
        yield f"{head} {lines[0]}".rstrip()
        return
    yield head
    yield from (f"  {line}".rstrip() for line in lines)


def json_text(value: object, *, indent: int | None = None) -> str:
    """Write *value* as JSON that is safe to show on a terminal."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def span(time: timedelta) -> str:
    """Write a length of time the way people say it, in at most two units."""
    seconds = max(time.total_seconds(), 0)
    if seconds < _MINUTE:
        return f"{seconds:.1f}s" if seconds < _WITH_TENTHS else f"{seconds:.0f}s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "m"), (rest, "s")]
    first = next(index for index, (amount, _) in enumerate(units) if amount)
    return "".join(f"{amount}{unit}" for amount, unit in units[first : first + 2] if amount)


def count(number: int, noun: str, *, plural: str | None = None) -> str:
    """Write a number with its noun: `1 turn`, `2 turns`, `no turns`."""
    return f"{number or 'no'} {noun if number == 1 else plural or f'{noun}s'}"
