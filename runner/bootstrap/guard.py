"""What people attempt, held against the policies in force."""

from collections.abc import Iterable, Sequence
from typing import Final

from runner.bootstrap.wiring import Wiring
from runner.core.authorization import Action, AgentRef, Attempt, Effect, Lineage, Verdict
from runner.core.coordination import Reach
from runner.core.errors import NotFound, NotPermitted
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.records import Conversation, Turn
from runner.engine.intake import Order
from runner.engine.permits import attempt_on

#: What each action is called in a sentence.
_WORDS: Final = {
    Action.SUBMIT: "submit this",
    Action.WAIT: "let a turn wait for others",
    Action.CALLBACK: "have a conversation told of a turn's end",
    Action.SEND_MESSAGE: "send a message there",
    Action.CANCEL: "cancel this",
    Action.PAUSE: "pause this",
    Action.RESUME: "resume this",
    Action.STEER: "steer this",
    Action.APPROVE: "answer this",
    Action.READ_CONTROL: "read how this stands",
    Action.READ_MESSAGES: "read what was said there",
}


class Guard:
    """
    Lets people do what policies let them.

    Where no file speaks of policies, and no turn began with any, nothing is looked up, and
    everything is let through.
    """

    def __init__(self, wiring: Wiring, principal: JsonObject | None) -> None:
        self._wiring = wiring
        #: Who acts.
        self.principal: Final = principal

    def order(self, order: Order) -> None:
        """
        Let somebody submit a turn, or prepare or run it, with what it waits for and tells.

        It is told what became of the turns that it waits for, and writes to the conversation that
        is told of its own end, so that whoever orders it has to be allowed that too.

        Raises:
            NotFound: A turn that it waits for, or the conversation that it tells, is not there.
            NotPermitted: Policies do not allow it.
        """
        principal = self.principal if self.principal is not None else order.principal
        if self._wiring.is_policed:
            self._ensure_order(order, principal)
        if not (order.awaits or order.callback_to) or self._is_open:
            return
        views = self._wiring.store.views
        for awaited in order.awaits:
            self._ensure_turn(Action.READ_CONTROL, views.turn(awaited), principal)
        if order.callback_to is not None:
            told = views.latest_turn(order.callback_to)
            self._ensure_turn(Action.SEND_MESSAGE, told, principal)

    def act(self, action: Action, turn_id: TurnId, *, reach: Reach = Reach.RETAIN) -> None:
        """
        Let somebody do something to a turn, or read of it; with cascade, also to all below it.

        Raises:
            NotFound: There is no such turn.
            NotPermitted: Policies do not allow it.
        """
        if self._is_open:
            return
        views = self._wiring.store.views
        is_alone = reach is Reach.RETAIN
        for turn in [views.turn(turn_id)] if is_alone else views.tree(turn_id):
            self._ensure_turn(action, turn, self.principal)

    def converse(self, action: Action, conversation_id: ConversationId) -> None:
        """
        Let somebody write to a conversation, or read of it.

        Raises:
            NotFound: There is no such conversation.
            NotPermitted: Policies do not allow it.
        """
        if not self._is_open:
            latest = self._wiring.store.views.latest_turn(conversation_id)
            self._ensure_turn(action, latest, self.principal)

    def shown(self, turn: Turn) -> Turn:
        """
        Return a turn that was read, where somebody may see how it stands.

        Raises:
            NotPermitted: Policies do not allow it.
        """
        if not self._is_open:
            self._ensure_turn(Action.READ_CONTROL, turn, self.principal)
        return turn

    def opened(self, conversation: Conversation) -> Conversation:
        """
        Return a conversation that was read, where somebody may see that it is there.

        Raises:
            NotPermitted: Policies do not allow it.
        """
        self.converse(Action.READ_CONTROL, conversation.id)
        return conversation

    def readable(self, turn_ids: Iterable[TurnId]) -> Sequence[TurnId]:
        """Leave out the ids of turns that are not there, or that somebody may not see."""
        return list(turn_ids) if self._is_open else [i for i in turn_ids if self._is_readable(i)]

    def visible(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Leave out of a list the turns that somebody may not see."""
        return turns if self._is_open else [turn for turn in turns if self._may_see(turn)]

    def visible_tree(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """
        Leave out of a tree the turns that somebody may not see, with all that is below them.

        Raises:
            NotPermitted: That is so of the first.
        """
        if self._is_open or not turns:
            return turns
        first, *below = turns
        kept = {self.shown(first).id: first}
        for turn in below:
            if turn.place.parent_id in kept and self._may_see(turn):
                kept[turn.id] = turn
        return list(kept.values())

    @property
    def _is_open(self) -> bool:
        return not self._wiring.has_been_policed

    def _decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        return self._wiring.authority.decide(attempt, lineage)

    def _is_readable(self, turn_id: TurnId) -> bool:
        try:
            return self._may_see(self._wiring.store.views.turn(turn_id))
        except NotFound:
            return False

    def _may_see(self, turn: Turn) -> bool:
        attempt = attempt_on(turn, Action.READ_CONTROL, self.principal)
        return self._decide(attempt, turn.lineage).effect is Effect.ALLOW

    def _ensure_order(self, order: Order, principal: JsonObject | None) -> None:
        conversation = {"id": order.conversation_id} if order.conversation_id else {}
        agent = order.agent
        ref = AgentRef(name=agent.name, definition_hash=agent.content_hash)
        for action in _actions(order):
            attempt = Attempt(
                action=action,
                agent=agent.name,
                principal=principal,
                turn={"kind": order.kind.value},
                conversation={**conversation, "agent": agent.name},
                context=order.whole_context,
            )
            _ensure(attempt, self._decide(attempt, [ref]))

    def _ensure_turn(self, action: Action, turn: Turn, principal: JsonObject | None) -> None:
        attempt = attempt_on(turn, action, principal)
        _ensure(attempt, self._decide(attempt, turn.lineage))


def _actions(order: Order) -> Iterable[Action]:
    yield Action.SUBMIT
    if order.awaits:
        yield Action.WAIT
    if order.callback_to is not None:
        yield Action.CALLBACK


def _ensure(attempt: Attempt, verdict: Verdict) -> None:
    if verdict.effect is Effect.ALLOW:
        return
    why = verdict.reason
    if verdict.effect is Effect.ASK:
        why = f"it would have to be approved, which what people do cannot wait for: {why}"
    where = f" ({verdict.source})" if verdict.source else ""
    raise NotPermitted(
        f"policies do not let you {_WORDS[attempt.action]}: {why}{where}",
        rule=verdict.rule,
        source=verdict.source,
    )
