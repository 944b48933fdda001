"""What scripted answers quote from the conversation."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runner.core.jsonvalue import JsonObject, JsonValue, dump_json
from runner.core.messages import Message, ToolResult

_PLACEHOLDER: Final = re.compile(r"\{(task|last_result)((?:\.[A-Za-z0-9_-]+)*)\}")


def quote(text: str, *, task: str, last_result: JsonObject) -> str:
    """
    Put the conversation's own words into *text*.

    `{task}` is what the turn was asked, `{last_result}` the latest tool result as JSON, and
    `{last_result.key}` one value of it, as it is when it is text and as JSON otherwise; nested
    keys and the indices of lists follow after further dots. All other braces stay as they are, and
    so does a key that the result does not have.
    """

    def replacement(match: re.Match[str]) -> str:
        if match[1] == "task":
            return match[0] if match[2] else task
        found = _dig(last_result, match[2].split(".")[1:])
        return match[0] if found is None else _as_text(found)

    return _PLACEHOLDER.sub(replacement, text)


def quote_in(value: JsonValue, *, task: str, last_result: JsonObject) -> JsonValue:
    """Put the conversation's own words into every text in *value*, keys excepted."""
    match value:
        case str():
            return quote(value, task=task, last_result=last_result)
        case Mapping():
            return {
                key: quote_in(item, task=task, last_result=last_result)
                for key, item in value.items()
            }
        case Sequence():
            return [quote_in(item, task=task, last_result=last_result) for item in value]
        case _:
            return value


def last_result_of(messages: Sequence[Message]) -> JsonObject:
    """Return the content of the latest tool result, or an empty object when there is none."""
    results = (
        part.content
        for message in reversed(messages)
        for part in reversed(message.parts)
        if isinstance(part, ToolResult)
    )
    return next(results, {})


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
