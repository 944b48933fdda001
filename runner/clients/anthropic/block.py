"""A content block of an answer, while it is being streamed and when it is whole."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from runner.core.jsonvalue import JsonObject, JsonValue, storable
from runner.core.messages import Opaque, Part, Text, Thinking, ToolCall

#: What the streamed JSON of a block's input is called.
INPUT: Final = "partial_json"

_KNOWN: Final = frozenset({"text", "thinking", "tool_use"})


@dataclass(slots=True)
class Block:
    """What has come of a block."""

    content: dict[str, JsonValue]
    is_closed: bool = False
    #: Whether it could not be put together, so that it cannot be replayed.
    is_lost: bool = False
    #: What was streamed of each text, put together only at the end: adding every piece to all
    #: before it would take a time that grows with the square of the answer's length.
    _pieces: dict[str, list[str]] = field(default_factory=dict)

    def add(self, key: str, piece: JsonValue) -> None:
        """Add what came next of the text called *key*."""
        if piece:
            self._pieces.setdefault(key, []).append(str(piece))

    @property
    def input_json(self) -> str:
        """The JSON of its input so far."""
        return "".join(self._pieces.get(INPUT, ()))

    @property
    def is_known(self) -> bool:
        return self.content["type"] in _KNOWN

    @property
    def arguments(self) -> JsonObject | None:
        """The input that was streamed, or None when it is not a JSON object; nothing is `{}`."""
        try:
            value = storable(json.loads(self.input_json or "{}"))
        except (ValueError, RecursionError):
            return None
        if value is None or value == "":
            return {}
        return value if isinstance(value, Mapping) else None

    def part(self, arguments: JsonObject) -> Part:
        """Return it as a storable part of a message; fields that say nothing are left out."""
        content = {
            key: storable(value)
            for key, value in (self.content | self._texts()).items()
            if value is not None
        }
        match content.pop("type"):
            case "text":
                return Text(text=str(content.pop("text", "")), extra=content)
            case "thinking":
                return Thinking(text=str(content.pop("thinking", "")), extra=content)
            case "tool_use":
                given = content.pop("input", None)
                return ToolCall(
                    call_id=str(content.pop("id", "")),
                    name=str(content.pop("name", "")),
                    arguments=arguments or (given if isinstance(given, Mapping) else {}),
                    extra=content,
                )
            case kind:
                inputs = {"input": arguments} if self.input_json else {}
                return Opaque(block={"type": kind, **content, **inputs})

    def _texts(self) -> dict[str, JsonValue]:
        """Return the texts that were streamed, each behind what the block began with."""
        return {
            key: "".join((str(self.content.get(key) or ""), *pieces))
            for key, pieces in self._pieces.items()
            if key != INPUT
        }
