"""What would be sent: the exact first request of a turn, and how large its pieces are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.core.estimate import estimate_tokens
from runner.core.jsonvalue import dump_json
from runner.core.messages import Message, Role, Text, ToolResult
from runner.core.model import ModelRequest, RenderedRequest
from runner.core.records import TurnKind
from runner.engine.request import build_request, context_has_changed
from runner.runtime.agent import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large one piece of a request is."""

    #: `system.<section>`, `tools.<tool>`, or `messages.<role>`.
    name: str
    characters: int
    #: Estimated, not counted.
    tokens: int

    @classmethod
    def of(cls, name: str, text: str) -> "Size":
        return cls(name=name, characters=len(text), tokens=estimate_tokens(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The first request of a turn."""

    request: RenderedRequest
    #: Of its pieces, in the order in which they are sent.
    sizes: Sequence[Size]


def preview(agent: Agent, kind: TurnKind, messages: Sequence[Message], *, now: datetime) -> Preview:
    """
    Render the request that continues *messages*, whose last one is the turn's trigger.

    It is built by the same function as the request that is sent.
    """
    context = agent.context(now)
    if context_has_changed(messages, context):
        messages = (*messages, _context_message(messages[-1], context))
    request = build_request(agent, kind, messages)
    sizes = (*_sections(agent, kind), *_tools(request), *_messages(messages))
    return Preview(request=agent.client.render(request), sizes=sizes)


def _sections(agent: Agent, kind: TurnKind) -> Iterator[Size]:
    for section in agent.prompt(kind).sections:
        yield Size.of(f"system.{section.name}", section.text)


def _tools(request: ModelRequest) -> Iterator[Size]:
    for tool in request.tools:
        text = "\n".join((tool.name, tool.description, dump_json(tool.parameters)))
        yield Size.of(f"tools.{tool.name}", text)


def _messages(messages: Sequence[Message]) -> Iterator[Size]:
    for role in dict.fromkeys(message.role for message in messages):
        texts = [_shown(message) for message in messages if message.role is role]
        yield Size.of(f"messages.{role.value}", "\n".join(texts))


def _shown(message: Message) -> str:
    """Write out what a model reads of a message, near enough to be measured."""
    calls = [dump_json(call.arguments) for call in message.tool_calls]
    results = [dump_json(part.content) for part in message.parts if isinstance(part, ToolResult)]
    return "\n".join((message.text, *calls, *results))


def _context_message(after: Message, context: str) -> Message:
    return Message(
        id=after.id,
        conversation_id=after.conversation_id,
        turn_id=after.turn_id,
        role=Role.CONTEXT,
        parts=(Text(text=context),),
    )
