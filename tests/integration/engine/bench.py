"""A worker's engine on a real store, with an agent made in code."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from runner.core.clock import SystemClock
from runner.core.errors import NotFound
from runner.core.ids import ConversationId, TurnId, new_worker_id
from runner.core.jsonvalue import JsonValue
from runner.core.messages import Message, Role, ToolCall, ToolResult
from runner.core.ports import Journal
from runner.core.records import ClaimedTurn, ToolExecution, Turn, TurnKind
from runner.engine.aftermath import Aftermath
from runner.engine.approving import Approving
from runner.engine.callbacks import CallbackRules
from runner.engine.control import Control
from runner.engine.coordination import Coordination
from runner.engine.courier import Courier
from runner.engine.driver import Driver
from runner.engine.heartbeat import Heartbeat
from runner.engine.inline import InlineRunner
from runner.engine.intake import Order, Reception
from runner.engine.launch import Launcher
from runner.engine.permits import Policing
from runner.engine.sweep import Sweeper
from runner.engine.work import Terms, TurnWorker
from runner.runtime.agent import Agent
from runner.store.store import Store
from tests.fakes.dispatcher import FakeDispatcher
from tests.fakes.journal import ProcessDied
from tests.fakes.observer import FakeObserver

LEASE = timedelta(minutes=5)
SLICE = timedelta(minutes=5)


class Bench:
    """One worker process's engine; several on one store are several processes."""

    def __init__(
        self,
        store: Store,
        agent: Agent,
        *others: Agent,
        journal: Journal | None = None,
        slice_length: timedelta = SLICE,
        max_claims: int = 5,
        policing: Policing | None = None,
    ) -> None:
        self.store = store
        self.agent = agent
        self.agents = {each.name: each for each in (agent, *others)}
        #: Why the agent cannot be brought to life, if so.
        self.fault: Exception | None = None
        self.dispatcher = FakeDispatcher()
        self.observer = FakeObserver()
        self.worker_id = new_worker_id()
        self.reception = Reception(store.intake)
        self.clock = SystemClock()
        journal = journal or store.journal
        self.heartbeat = Heartbeat(journal, self.worker_id, lease=LEASE, clock=self.clock)
        self.launcher = Launcher(
            intake=store.intake,
            views=store.views,
            agent_named=self._agent_named,
            agent_of=self._agent_of,
        )
        policing = policing or Policing()
        rules = CallbackRules(store.views, policing.authority)
        self.courier = Courier(store.deliveries, self.launcher, rules)
        self.aftermath = Aftermath(self.courier, store.controls, self.dispatcher)
        self.driver = Driver(
            journal=journal,
            launcher=self.launcher,
            observer=self.observer,
            clock=self.clock,
            max_claims=max_claims,
            policing=policing,
        )
        self.worker = TurnWorker(
            journal=journal,
            driver=self.driver,
            heartbeat=self.heartbeat,
            aftermath=self.aftermath,
            clock=self.clock,
            terms=Terms(lease=LEASE, slice=slice_length),
        )
        self.inline = InlineRunner(
            self.worker,
            store.views,
            clock=self.clock,
            upkeep=lambda: self.sweeper.sweep(quiet=None),
        )
        self.control = Control(store.controls, self.worker)
        self.approving = Approving(store.approvals, store.views, self.aftermath, policing.authority)
        self.sweeper = Sweeper(
            store.sweeps, self.dispatcher, settle_callbacks=self.courier.settle_due
        )
        self.coordination = Coordination(
            launcher=self.launcher,
            courier=self.courier,
            intake=store.intake,
            views=store.views,
            wake=self.aftermath.wake,
        )

    def _agent_named(self, name: str) -> Agent:
        if name not in self.agents:
            raise NotFound(f"there is no agent {name!r}")
        return self.agents[name]

    def run_here(self, order: Order) -> Turn:
        since = self.clock.monotonic()
        turn = self.reception.start(order, self.worker_id, lease=LEASE)
        claimed = ClaimedTurn.of(turn, self.worker_id, seconds_left=600)
        return self.inline.run(claimed, since=since)

    def work_off(self) -> None:
        """Work on everything that is due, until nothing is."""
        while due := self.store.sweeps.due(limit=100, quiet=timedelta(0)):
            for turn_id in due:
                self.worker.work_on(turn_id)

    def _agent_of(self, turn: Turn) -> Agent:
        if self.fault is not None:
            raise self.fault
        return self._agent_named(turn.agent)

    def order(
        self,
        text: str = "Go.",
        *,
        conversation_id: ConversationId | None = None,
        data: JsonValue = None,
    ) -> Order:
        return Order(
            agent=self.agent,
            kind=TurnKind.CHAT if conversation_id else TurnKind.TASK,
            text=text,
            input=data,
            conversation_id=conversation_id,
        )

    def submit(
        self, text: str = "Go.", *, after: Turn | None = None, agent: str | None = None
    ) -> Turn:
        conversation_id = after.conversation_id if after else None
        order = self.order(text, conversation_id=conversation_id)
        return self.reception.submit(replace(order, agent=self.agents[agent]) if agent else order)

    def work_on(self, turn: Turn) -> Turn:
        self.worker.work_on(turn.id)
        return self.read(turn.id)

    def run(self, text: str = "Go.", *, after: Turn | None = None) -> Turn:
        return self.work_on(self.submit(text, after=after))

    def die_on(self, turn: Turn) -> None:
        """Work on *turn* until the journal of this bench dies, if it does."""
        try:
            self.worker.work_on(turn.id)
        except ProcessDied:
            return

    def read(self, turn_id: TurnId) -> Turn:
        return self.store.views.turn(turn_id)

    def messages(self, turn: Turn) -> Sequence[Message]:
        return self.store.views.messages(turn.conversation_id)

    def executions(self, turn: Turn) -> Sequence[ToolExecution]:
        return self.store.views.tool_executions(turn.id)

    def kinds(self, turn: Turn) -> list[str]:
        return [event.kind for event in self.store.views.events(turn.id)]

    def results(self, turn: Turn) -> list[ToolResult]:
        return [
            part
            for message in self.messages(turn)
            for part in message.parts
            if isinstance(part, ToolResult)
        ]


def assert_valid(messages: Sequence[Message]) -> None:
    """Assert that every call has exactly one result, in call order, before anything is asked."""
    waiting: list[str] = []
    for message in messages:
        if message.seq is None:
            continue
        if message.role is Role.TOOL:
            result = message.parts[0]
            assert isinstance(result, ToolResult)
            assert waiting, f"{result.call_id} has no call"
            assert waiting.pop(0) == result.call_id
        elif message.role in {Role.ASSISTANT, Role.USER}:
            assert not waiting, f"{waiting} have no result before message {message.seq}"
            waiting = [part.call_id for part in message.parts if isinstance(part, ToolCall)]
    assert not waiting, f"{waiting} have no result"
