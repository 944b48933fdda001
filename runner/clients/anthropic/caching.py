"""Where a request is marked for the provider's prompt cache."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from runner.clients.anthropic.projection import WireMessage
from runner.core.jsonvalue import JsonObject

_MARK: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}
#: The newest user message, and the one that was the newest a response ago: what that request wrote
#: to the cache is found again there, however many blocks have been added since.
_MARKED_MESSAGES: Final = 2


def mark_last(blocks: Sequence[JsonObject]) -> list[JsonObject]:
    """Mark the end of *blocks*: all up to there is cached."""
    return [*blocks[:-1], *({**block, **_MARK} for block in blocks[-1:])]


def mark_tail(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """
    Mark the ends of the last user messages.

    Only user messages are marked: their blocks are texts and tool results, which may carry a mark,
    as thinking may not.
    """
    users = (i for i in reversed(range(len(messages))) if messages[i].role == "user")
    marked = set(islice(users, _MARKED_MESSAGES))
    return [
        replace(message, content=mark_last(message.content)) if i in marked else message
        for i, message in enumerate(messages)
    ]
