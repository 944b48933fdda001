"""What would be sent: the exact first request of a turn, and how large its pieces are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from runner.core.contributing import ContributorContext, NoContributors, Skipped
from runner.core.ids import ConversationId
from runner.core.jsonvalue import dump_json
from runner.core.messages import Message, Role, Text
from runner.core.model import RenderedRequest
from runner.core.records import Turn, TurnKind
from runner.core.states import TurnStatus
from runner.engine.context_step import about, gather
from runner.engine.intake import Order, new_turn
from runner.engine.request import build_request, context_has_changed
from runner.runtime.agent import Agent
from runner.tools.cancel import CancelFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The first request of a turn."""

    request: RenderedRequest
    #: Characters of each section of the system prompt, of all tools, of each part of what is live,
    #: and of all other messages.
    sizes: Mapping[str, int]
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
    sizes = {f"system.{part.name}": len(part.text) for part in agent.prompt(kind).sections}
    sizes["tools"] = sum(
        len(tool.name) + len(tool.description) + len(dump_json(tool.parameters))
        for tool in request.tools
    )
    sizes["messages"] = sum(len(message.text) for message in messages)
    if told is not messages:
        sizes |= {f"context.{name}": size for name, size in live.sizes}
    return Preview(request=agent.client.render(request), sizes=sizes, skipped=live.skipped)


def _context_message(after: Message, context: str) -> Message:
    return Message(
        id=after.id,
        conversation_id=after.conversation_id,
        turn_id=after.turn_id,
        role=Role.CONTEXT,
        parts=(Text(text=context),),
    )
