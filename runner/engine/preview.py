"""What would be sent: the exact first request of a turn, and how large its pieces are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from runner.core.contributing import ContributorContext, NoContributors, Skipped
from runner.core.estimate import estimate_tokens
from runner.core.ids import ConversationId
from runner.core.jsonvalue import dump_json
from runner.core.messages import Message, Role, Text, ToolResult
from runner.core.model import ModelRequest, RenderedRequest
from runner.core.records import Turn, TurnKind
from runner.core.states import TurnStatus
from runner.engine.context_step import about, gather
from runner.engine.intake import Order, new_turn
from runner.engine.request import build_request, context_has_changed
from runner.runtime.agent import Agent
from runner.tools.cancel import CancelFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large one piece of a request is."""

    #: `system.<section>`, `tools.<tool>`, `messages.<role>`, or `context.<contributor>`.
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
    #: The contributors that failed and are left out, and why.
    skipped: Sequence[Skipped] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a request depends on beside its agent and messages."""

    now: datetime
    known: ContributorContext
    #: Whether contributors are asked; without them the request is not the one that is sent.
    with_context: bool = True


def preview_order(order: Order, *, now: datetime, with_context: bool) -> Preview:
    """
    Render the first request of a turn that is not stored.

    Raises:
        UsageError: There is nothing to do, or the input is not what the agent takes.
        ContributorFailed: One that the turn cannot go on without gave nothing.
    """
    new = new_turn(order, TurnStatus.PREPARED)
    known = ContributorContext(
        turn_id=new.id,
        # What nobody has stored has no conversation to keep anything for.
        conversation_id=ConversationId(""),
        agent=new.agent,
        principal=new.principal,
        subject=new.subject,
        context=new.context,
        cancelled=CancelFlag(),
    )
    moment = Moment(now=now, known=known, with_context=with_context)
    return preview(order.agent, order.kind, [new.trigger], moment=moment)


def preview_turn(
    turn: Turn, agent: Agent, messages: Sequence[Message], *, now: datetime, with_context: bool
) -> Preview:
    """
    Render the first request of a turn that is stored and has not started.

    Raises:
        ContributorFailed: A contributor that the turn cannot go on without gave nothing.
    """
    told = [each for each in messages if each.seq is not None or each.turn_id == turn.id]
    moment = Moment(now=now, known=about(turn, CancelFlag()), with_context=with_context)
    return preview(agent, turn.kind, told, moment=moment)


def preview(
    agent: Agent, kind: TurnKind, messages: Sequence[Message], *, moment: Moment
) -> Preview:
    """
    Render the request that continues *messages*, whose last one is the turn's trigger.

    It is built by the same functions as the request that is sent, and asks contributors like it.

    Raises:
        ContributorFailed: One that the turn cannot go on without gave nothing.
    """
    asked = agent if moment.with_context else replace(agent, contributors=NoContributors())
    seconds = agent.definition.limits.timeout.total_seconds()
    live = gather(asked, moment.known, now=moment.now, seconds=seconds)
    told = messages
    if context_has_changed(messages, live.text):
        told = (*messages, _context_message(messages[-1], live.text))
    request = build_request(agent, kind, told)
    sizes = [*_sections(agent, kind), *_tools(request), *_messages(messages)]
    if told is not messages:
        sizes += [Size.of(f"context.{each.name}", each.text) for each in live.contributions]
    return Preview(request=agent.client.render(request), sizes=tuple(sizes), skipped=live.skipped)


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
