"""The ids of tool calls, which some servers give out twice."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Final

from runner.core.jsonvalue import storable_text
from runner.core.messages import Part, ToolCall

#: Longer ids lose their end, for no index takes a text of any length.
_LONGEST: Final = 200


def with_unique_ids(parts: Iterable[Part], taken: Iterable[str]) -> tuple[Part, ...]:
    """
    Return *parts*, in which no two calls have one id, and none has one of *taken*.

    An execution and a result are found by the id of their call, so within a turn it has to be the
    only one. Ids that are so already stay as they are.
    """
    known = set(taken)
    unique: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall):
            call_id = _unused(storable_text(part.call_id)[:_LONGEST], known)
            known.add(call_id)
            unique.append(replace(part, call_id=call_id))
        else:
            unique.append(part)
    return tuple(unique)


def _unused(call_id: str, known: set[str]) -> str:
    if call_id and call_id not in known:
        return call_id
    numbered = (f"{call_id or 'call'}_{number}" for number in count(2))
    return next(each for each in numbered if each not in known)
