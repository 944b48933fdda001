"""One SQL statement: its parameters, `:name`, and that it is one."""

import re
from collections.abc import Iterator
from typing import Final

#: What has no parameters in it: quoted texts and names, comments, casts; then the parameters.
_PIECE: Final = re.compile(
    r"'(?:[^']|'')*'"
    r'|"(?:[^"]|"")*"'
    r"|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$"
    r"|--[^\n]*"
    r"|/\*.*?\*/"
    r"|::"
    r"|(?<![\w:]):(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<end>;)"
    r"|(?P<colon>:)",
    re.DOTALL,
)


def parameters(statement: str) -> tuple[str, ...]:
    """The parameters that a statement names, each once."""
    found = (match["name"] for match in _PIECE.finditer(statement) if match["name"])
    return tuple(dict.fromkeys(found))


def is_one(statement: str) -> bool:
    """Whether a text is one statement, perhaps with a semicolon at its end."""
    ends = [match.end() for match in _PIECE.finditer(statement) if match["end"]]
    rest = _without_comments(statement[ends[0] :]) if ends else ""
    return bool(_without_comments(statement).strip("; \t\r\n")) and not rest.strip("; \t\r\n")


def with_marks(statement: str, mark: str) -> str:
    r"""Write every colon that starts no parameter behind *mark*, as SQLAlchemy wants it: `\:`."""
    return "".join(_marked(statement, mark))


def _marked(statement: str, mark: str) -> Iterator[str]:
    end = 0
    for match in _PIECE.finditer(statement):
        yield statement[end : match.start()]
        yield match[0] if match["name"] else match[0].replace(":", f"{mark}:")
        end = match.end()
    yield statement[end:]


def _without_comments(statement: str) -> str:
    return _PIECE.sub(
        lambda match: " " if match[0].startswith(("--", "/*")) else match[0], statement
    )
