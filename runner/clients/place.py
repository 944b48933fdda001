"""Where in its turn a request stands, as the request itself tells."""

import hashlib
from dataclasses import dataclass
from typing import Self

from runner.clients.quoting import last_result_of
from runner.core.jsonvalue import JsonObject, dump_json
from runner.core.messages import Role
from runner.core.model import ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """All that a scripted answer depends on; the same in every process."""

    #: The text of the last message that the user wrote.
    task: str
    #: Responses since then.
    step: int
    #: The same for every attempt at this request, and for no other request.
    key: str
    last_result: JsonObject

    @classmethod
    def of(cls, request: ModelRequest) -> Self:
        messages = request.messages
        trigger = next(
            (i for i in reversed(range(len(messages))) if messages[i].role is Role.USER), None
        )
        since = messages if trigger is None else messages[trigger:]
        step = sum(message.role is Role.ASSISTANT for message in since)
        first = [] if trigger is None else [since[0].conversation_id, since[0].id]
        identity = dump_json([*first, step])
        return cls(
            task="" if trigger is None else since[0].text,
            step=step,
            key=hashlib.sha256(identity.encode()).hexdigest()[:24],
            last_result=last_result_of(messages),
        )
