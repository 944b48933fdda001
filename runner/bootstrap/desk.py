"""Where orders become turns: run here, or submitted with a wake-up."""

from dataclasses import dataclass, field

from runner.bootstrap.wiring import Wiring
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.records import Turn, TurnKind
from runner.engine.intake import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an application hands in beside the text of a turn."""

    #: Who the turn acts for; stored with it and shown to tools, never taken from a model.
    principal: JsonObject | None = None
    #: JSON for tools.
    context: JsonObject = field(default_factory=dict)
    #: JSON the runner only keeps.
    metadata: JsonObject = field(default_factory=dict)


class Desk:
    """Takes orders for agents by name."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

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
            principal=given.principal,
            context=given.context,
            metadata=given.metadata,
        )

    def message(
        self,
        agent: str,
        text: str,
        given: Given | None,
        *,
        conversation_id: ConversationId | None = None,
    ) -> Order:
        """
        Order an answer to a message, in a new conversation unless one is named.

        Raises:
            NotFound: There is no such agent.
        """
        given = given or Given()
        return Order(
            agent=self._wiring.catalog.agent(agent),
            kind=TurnKind.CHAT,
            text=text,
            conversation_id=conversation_id,
            principal=given.principal,
            context=given.context,
            metadata=given.metadata,
        )

    def prepare(self, order: Order) -> Turn:
        return self._wiring.reception.prepare(order)

    def submit(self, order: Order) -> Turn:
        """Store the order for any worker, and wake one."""
        worker = self._wiring.turn_worker  # what cannot be set up shows before anything is stored
        turn = self._wiring.reception.submit(order)
        worker.wake([turn.id])
        return turn

    def submit_prepared(self, turn_id: TurnId) -> Turn:
        wiring = self._wiring
        worker = wiring.turn_worker
        agent = wiring.agent_of(wiring.store.views.turn(turn_id))
        turn = wiring.reception.submit_prepared(turn_id, agent)
        worker.wake([turn_id])
        return turn

    def run(self, order: Order) -> Turn:
        """Run the order in this thread and return the ended turn."""
        wiring = self._wiring
        worker = wiring.turn_worker
        since = wiring.clock.monotonic()
        turn = wiring.reception.start(order, wiring.worker_id, lease=wiring.config.worker.lease)
        timeout = order.agent.definition.limits.timeout
        worker.run_here(turn, since=since, seconds_left=timeout.total_seconds())
        # As stored: with the database's times, and without the claim.
        return wiring.store.views.turn(turn.id)
