"""What scripted answers quote from the conversation."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runner.core.jsonvalue import JsonObject, JsonValue, dump_json
from runner.core.messages import Message, ToolResult

_PLACEHOLDER: Final = re.compile(
    r"\{(?P<what>task|(?P<source>input|last_result|last_result_of\.(?P<tool>[A-Za-z0-9_-]+))"
    r"(?P<keys>(?:\.[A-Za-z0-9_-]+)*))\}"
)
#: How a task carries its input, at its end; it is one line of JSON.
_INPUT: Final = re.compile(r"<input>\n(.*)\n</input>\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """What of a conversation can be quoted."""

    #: What the turn was asked.
    task: str = ""
    #: The latest result of each tool, the latest of all last.
    results: Mapping[str, JsonObject] = field(default_factory=dict)

    @property
    def input(self) -> JsonValue:
        """The input that the task carries; None when it has none."""
        carried = _INPUT.search(self.task)
        try:
            value: JsonValue = json.loads(carried[1]) if carried else None
        except ValueError:
            return None
        return value

    @property
    def last_result(self) -> JsonObject:
        """The latest result of all, or an empty object when there is none."""
        return list(self.results.values())[-1] if self.results else {}


def quote(text: str, source: Quotable) -> str:
    """
    Put the conversation's own words into *text*.

    `{task}` is what the turn was asked, `{input}` the task's input as JSON, `{last_result}` the
    latest tool result, and `{last_result_of.tool}` the latest result of one tool. `{input.key}`,
    `{last_result.key}` and `{last_result_of.tool.key}` are one value of it, as it is when it is
    text and as JSON otherwise; nested keys and the indices of lists follow after further dots. All
    other braces stay as they are, and so does what is not there.
    """

    def replacement(match: re.Match[str]) -> str:
        if match["what"] == "task":
            return source.task
        found = _dig(_source(match, source), match["keys"].split(".")[1:])
        return match[0] if found is None else _as_text(found)

    return _PLACEHOLDER.sub(replacement, text)


def quote_in(value: JsonValue, source: Quotable) -> JsonValue:
    """Put the conversation's own words into every text in *value*, keys excepted."""
    match value:
        case str():
            return quote(value, source)
        case Mapping():
            return {key: quote_in(item, source) for key, item in value.items()}
        case Sequence():
            return [quote_in(item, source) for item in value]
        case _:
            return value


def latest_results(messages: Sequence[Message]) -> dict[str, JsonObject]:
    """Return the content of the latest result of each tool by its name, the latest of all last."""
    latest: dict[str, JsonObject] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult):
                latest.pop(part.name, None)
                latest[part.name] = part.content
    return latest


def _source(match: re.Match[str], quotable: Quotable) -> JsonValue:
    if match["tool"]:
        return quotable.results.get(match["tool"])
    return quotable.input if match["source"] == "input" else quotable.last_result


def _dig(value: JsonValue, keys: Sequence[str]) -> JsonValue:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, Sequence) and not isinstance(value, str) and key.isdecimal():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            return None
    return value


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else dump_json(value)
