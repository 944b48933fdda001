"""Where orders become turns: run here, or submitted with a wake-up."""

from runner.bootstrap.given import Given
from runner.bootstrap.guard import Guard
from runner.bootstrap.wiring import Wiring
from runner.core.authorization import Action
from runner.core.errors import UsageError
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.records import ClaimedTurn, Shared, Turn, TurnKind
from runner.engine.intake import Order
from runner.engine.preview import Preview, preview_order


class Desk:
    """Takes orders for agents by name."""

    def __init__(self, wiring: Wiring, guard: Guard) -> None:
        self._wiring = wiring
        self._guard = guard

    def task(self, agent: str, text: str, input_data: JsonValue, given: Given | None) -> Order:
        """
        Order a task.

        Raises:
            NotFound: There is no such agent.
        """
        given = given or Given()
        return Order(
            agent=self._wiring.catalog.agent(agent),
            kind=TurnKind.TASK,
            text=text,
            input=input_data,
            principal=self._principal(given),
            # A task and its conversation are one thing.
            shared=Shared(context=given.context, subject=given.subject),
            metadata=given.metadata,
            awaits=_turn_ids(given),
            callback_to=_conversation_id(given),
        )

    def message(
        self,
        agent: str,
        text: str,
        given: Given | None,
        *,
        conversation_id: ConversationId | None = None,
        shared: Shared | None = None,
    ) -> Order:
        """
        Order an answer to a message, in a new conversation unless one is named.

        A conversation keeps its kind, and with it the system prompt it began with. What it is about
        is said when it begins, in *shared*, and stays; what is given is the turn's alone.

        Raises:
            NotFound: There is no such agent, or no such conversation.
        """
        given = given or Given()
        kind = TurnKind.CHAT
        shared = shared or Shared()
        if conversation_id is not None:
            views = self._wiring.store.views
            kind = views.latest_turn(conversation_id).kind
            shared = views.conversation(conversation_id).shared
        return Order(
            agent=self._wiring.catalog.agent(agent),
            kind=kind,
            text=text,
            conversation_id=conversation_id,
            principal=self._principal(given),
            context=given.context,
            subject=given.subject,
            shared=shared,
            metadata=given.metadata,
            awaits=_turn_ids(given),
            callback_to=_conversation_id(given),
        )

    def preview(self, order: Order, *, with_context: bool) -> Preview:
        """
        Return the first request of the order's turn; contributors tell only who may submit it.

        Raises:
            NotPermitted: Policies do not allow to submit it.
        """
        if with_context:
            self._guard.order(order)
        now = self._wiring.clock.now()
        return preview_order(order, now=now, with_context=with_context)

    def prepare(self, order: Order) -> Turn:
        """
        Store the order as a turn that nothing runs until it is submitted.

        Raises:
            NotPermitted: Policies do not allow it.
        """
        self._guard.order(order)
        return self._wiring.reception.prepare(order)

    def submit(self, order: Order) -> Turn:
        """
        Store the order for any worker, and wake one.

        Raises:
            NotPermitted: Policies do not allow it.
        """
        self._guard.order(order)
        aftermath = self._wiring.aftermath  # what cannot be set up shows before anything is stored
        turn = self._wiring.reception.submit(order)
        aftermath.wake([turn.id])
        return turn

    def submit_prepared(self, turn_id: TurnId) -> Turn:
        self._guard.act(Action.SUBMIT, turn_id)
        wiring = self._wiring
        aftermath = wiring.aftermath
        agent = wiring.agent_of(wiring.store.views.turn(turn_id))
        turn = wiring.reception.submit_prepared(turn_id, agent)
        aftermath.wake([turn_id])
        return turn

    def run(self, order: Order) -> Turn:
        """
        Run the order in this process and return the ended turn.

        Raises:
            NotPermitted: Policies do not allow it.
        """
        self._guard.order(order)
        wiring = self._wiring
        inline = wiring.inline
        since = wiring.clock.monotonic()
        turn = wiring.reception.start(order, wiring.worker_id, lease=wiring.config.worker.lease)
        timeout = order.agent.definition.limits.timeout
        claimed = ClaimedTurn.of(turn, wiring.worker_id, seconds_left=timeout.total_seconds())
        return inline.run(claimed, since=since)

    def _principal(self, given: Given) -> JsonObject | None:
        return self._guard.principal if given.principal is None else given.principal


def _turn_ids(given: Given) -> tuple[TurnId, ...]:
    return tuple(TurnId(turn_id) for turn_id in given.wait_for)


def _conversation_id(given: Given) -> ConversationId | None:
    return ConversationId(given.callback_to) if given.callback_to else None


def said(text: str) -> str:
    """Return a text that says something; providers take no other."""
    if not text.strip():
        raise UsageError("the text is empty")
    return text
