"""Long results, cut to a length they may have."""

import json
from bisect import bisect_right
from typing import Final

from runner.core.jsonvalue import JsonObject, dump_json

#: Below this there is no room to say that something was cut.
MIN_CHARS: Final = 200


def cut_text(text: str, *, max_chars: int) -> str:
    """
    Cut the middle out of *text* until, escaped for JSON, it has at most *max_chars*, and say so.

    Beginning and end are kept because that is where what matters most often stands.
    """
    if len(text) <= max_chars and _escaped(text) <= max_chars:
        return text
    note = f" … {len(text)} characters, of which the middle is left out … "
    room = max(max_chars - _escaped(note), 0)
    head = _fitting(text[:room], room - room // 2)
    tail = _fitting(text[: -room - 1 : -1], room // 2)
    return text[:head] + note + text[len(text) - tail :]


def cut_object(content: JsonObject, *, max_chars: int) -> JsonObject:
    """
    Shorten *content* until its JSON text has at most *max_chars*, or `MIN_CHARS` if that is more.

    A long text directly in it is cut where it stands, so that the other keys stay what they were.
    When that is not enough, the whole JSON text takes the object's place, with its middle cut out.
    """
    text = dump_json(content)
    room = max(max_chars, MIN_CHARS)
    if len(text) <= room:
        return content
    return _cut_longest(content, len(text) - room) or _cut_whole(text, room)


def _cut_longest(content: JsonObject, excess: int) -> JsonObject | None:
    """Take *excess* characters from the longest text in *content*; None when it has too few."""
    texts = {key: value for key, value in content.items() if isinstance(value, str)}
    key = max(texts, key=lambda key: len(texts[key]), default="")
    if not texts or _escaped(texts[key]) - excess < MIN_CHARS:
        return None
    kept = _escaped(texts[key]) - excess
    return {**content, key: cut_text(texts[key], max_chars=kept)}


def _cut_whole(text: str, room: int) -> JsonObject:
    frame = len(dump_json({"result_as_json": ""}))
    return {"result_as_json": cut_text(text, max_chars=room - frame)}


def _escaped(text: str) -> int:
    """Count the characters of *text* in JSON, without its quotes."""
    return len(json.dumps(text, ensure_ascii=False)) - 2


def _fitting(text: str, room: int) -> int:
    """Return how many characters at the beginning of *text* need at most *room* in JSON."""
    lengths = range(len(text) + 1)
    return bisect_right(lengths, room, key=lambda length: _escaped(text[:length])) - 1
