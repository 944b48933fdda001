"""Parts of a long text, by its lines."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from runner.core.errors import ToolError
from runner.core.jsonvalue import JsonObject

#: The arguments with which a model asks for some lines of a file.
WINDOW_PARAMETERS: Final[Mapping[str, JsonValue]] = {
    "offset": {"type": "integer", "minimum": 1, "description": "The first line, from 1."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines at most."},
}


def window(lines: Sequence[str], arguments: JsonObject, path: str) -> JsonObject:
    """
    Return the text of a file's lines, or of those that the arguments ask for.

    Raises:
        ToolError: The file has no such lines.
    """
    offset, limit = _number(arguments, "offset", 1), _number(arguments, "limit", len(lines))
    if offset > max(len(lines), 1):
        raise ToolError(f"{path!r} has {len(lines)} lines, so none from line {offset} on")
    shown = lines[offset - 1 :][:limit]
    text = "\n".join(shown)
    if len(shown) == len(lines):
        return {"text": text}
    return {"from_line": offset, "to_line": offset + len(shown) - 1, "text": text}


def _number(arguments: JsonObject, name: str, default: int) -> int:
    value = arguments.get(name)
    return int(value) if isinstance(value, int | float) else default
