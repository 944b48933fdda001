"""Where in its turn a request stands, as the request itself tells."""

import hashlib
from dataclasses import dataclass
from typing import Self

from runner.clients.quoting import Quotable, latest_results
from runner.core.jsonvalue import dump_json
from runner.core.messages import Role
from runner.core.model import ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """All that a scripted answer depends on; the same in every process."""

    #: The text of the last message that the user wrote, and what there is beside it.
    quotable: Quotable
    #: The tool whose result was the latest when they wrote it; None when there was none.
    after: str | None
    #: Responses since then.
    step: int
    #: The same for every attempt at this request, and for no other request.
    key: str

    @classmethod
    def of(cls, request: ModelRequest) -> Self:
        messages = request.messages
        trigger = next(
            (i for i in reversed(range(len(messages))) if messages[i].role is Role.USER), None
        )
        since = messages if trigger is None else messages[trigger:]
        before = latest_results(messages[:trigger])
        step = sum(message.role is Role.ASSISTANT for message in since)
        first = [] if trigger is None else [since[0].conversation_id, since[0].id]
        identity = dump_json([*first, step])
        return cls(
            quotable=Quotable(
                task="" if trigger is None else since[0].text, results=latest_results(messages)
            ),
            after=next(reversed(before), None),
            step=step,
            key=hashlib.sha256(identity.encode()).hexdigest()[:24],
        )
