"""What would be sent: the exact first request of a turn, and how large its pieces are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.core.jsonvalue import dump_json
from runner.core.messages import Message, Role, Text
from runner.core.model import RenderedRequest
from runner.core.records import TurnKind
from runner.engine.request import build_request, context_has_changed
from runner.runtime.agent import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The first request of a turn."""

    request: RenderedRequest
    #: Characters of each section of the system prompt, of all tools, and of all messages.
    sizes: Mapping[str, int]


def preview(agent: Agent, kind: TurnKind, messages: Sequence[Message], *, now: datetime) -> Preview:
    """
    Render the request that continues *messages*, whose last one is the turn's trigger.

    It is built by the same function as the request that is sent.
    """
    context = agent.context(now)
    if context_has_changed(messages, context):
        messages = (*messages, _context_message(messages[-1], context))
    request = build_request(agent, kind, messages)
    sizes = {f"system.{part.name}": len(part.text) for part in agent.prompt(kind).sections}
    sizes["tools"] = sum(
        len(tool.name) + len(tool.description) + len(dump_json(tool.parameters))
        for tool in request.tools
    )
    sizes["messages"] = sum(len(message.text) for message in messages)
    return Preview(request=agent.client.render(request), sizes=sizes)


def _context_message(after: Message, context: str) -> Message:
    return Message(
        id=after.id,
        conversation_id=after.conversation_id,
        turn_id=after.turn_id,
        role=Role.CONTEXT,
        parts=(Text(text=context),),
    )
