"""The parts of a worker, with stops before and after everything they commit or ask for."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from typing_extensions import override

from runner.core.coordination import Delivery, NewDelivery
from runner.core.ids import TurnId, WorkerId
from runner.core.messages import Role
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest
from runner.core.ports import ModelClient
from runner.core.records import ClaimedTurn, Committed, NewEvent, NewTurn, StepWrite, Turn
from runner.core.tooling import Cancellation
from runner.store.database import Database
from runner.store.deliveries import SqlDeliveries
from runner.store.intake import SqlIntake
from runner.store.journal import SqlJournal
from tests.acceptance.lab.stops import Stops


class HeldJournal(SqlJournal):
    """Stops after claims, and around the commits of steps."""

    def __init__(self, database: Database, stops: Stops) -> None:
        super().__init__(database)
        self._stops = stops

    @override
    def claim(
        self, turn_id: TurnId, worker_id: WorkerId, *, lease: timedelta, inline: bool = False
    ) -> ClaimedTurn | None:
        claimed = super().claim(turn_id, worker_id, lease=lease, inline=inline)
        if claimed is not None:
            turn = claimed.turn
            self._stops.reach(f"claim {turn.agent} {turn.fence}")
        return claimed

    @override
    def commit(self, write: StepWrite, *, insist: Callable[[], bool] = lambda: False) -> Committed:
        turn = write.turn
        point = f"step {turn.agent} {turn.step}"
        self._stops.reach(f"{point} before")
        committed = super().commit(write, insist=insist)
        self._stops.reach(f"{point} after")
        return committed


class HeldIntake(SqlIntake):
    """Stops around the launch of a turn."""

    def __init__(self, database: Database, stops: Stops) -> None:
        super().__init__(database)
        self._stops = stops

    @override
    def add(self, new: NewTurn) -> Turn:
        self._stops.reach(f"launch {new.agent} before")
        turn = super().add(new)
        self._stops.reach(f"launch {new.agent} after")
        return turn


class HeldDeliveries(SqlDeliveries):
    """Stops around the delivery of a message."""

    def __init__(self, database: Database, stops: Stops) -> None:
        super().__init__(database)
        self._stops = stops

    @override
    def deliver(
        self,
        new: NewDelivery,
        *,
        settles: TurnId | None = None,
        decided: Sequence[NewEvent] = (),
    ) -> Delivery:
        kind = "message" if settles is None else "callback"
        self._stops.reach(f"{kind} before")
        delivery = super().deliver(new, settles=settles, decided=decided)
        self._stops.reach(f"{kind} after")
        return delivery


class HeldClient:
    """Stops inside the model call, before the answer and after it."""

    def __init__(self, client: ModelClient, stops: Stops) -> None:
        self._client = client
        self._stops = stops

    @property
    def max_attempts(self) -> int:
        return self._client.max_attempts

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        number = 1 + sum(message.role is Role.ASSISTANT for message in request.messages)
        self._stops.reach(f"model {request.agent} {number} asked")
        response = self._client.complete(request, on_delta, cancelled)
        self._stops.reach(f"model {request.agent} {number} answered")
        return response

    def render(self, request: ModelRequest) -> RenderedRequest:
        return self._client.render(request)
