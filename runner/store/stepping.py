"""The transaction that writes one step of a claimed turn, with everything it sets going."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, RowMapping, bindparam, case, select, update

from runner.core.errors import ClaimLost, InputsArrived, InvalidMove
from runner.core.ids import TurnId
from runner.core.records import (
    Committed,
    ExecutionMove,
    NewEvent,
    NewTurn,
    StepWrite,
    ToolExecution,
)
from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.asking import insert_approvals, new_rows, withdraw
from runner.store.codec import Columns, event_columns, message_columns
from runner.store.conditions import has_status
from runner.store.ending import ENDING, lock_awaited, set_going
from runner.store.moves import Moves
from runner.store.newcomers import Newcomers
from runner.store.reserving import Reserving
from runner.store.statements import insert_events, insert_messages
from runner.store.tables import InputRow, TurnRow, WaitRow
from runner.store.turn_write import TurnWrite
from runner.store.waits import Edge, ensure_acyclic, hold_graph, insert_edges, join, without_open

#: What a step that changed nothing is told of its turn, which then stays as it is.
_LOOK: Final = (
    select(
        *ENDING,
        TurnRow.status,
        TurnRow.fence,
        TurnRow.step,
        TurnRow.use_iterations,
        TurnRow.use_tool_executions,
        TurnRow.use_children,
        TurnRow.pause_requested,
        TurnRow.cancel_requested,
        TurnRow.open_inputs,
        TurnRow.open_approvals,
    )
    .where(TurnRow.id == bindparam("turn_id"))
    .with_for_update(key_share=True)
)
_SELECT_WOKEN: Final = (
    select(TurnRow.id)
    .join(WaitRow, WaitRow.waiter_id == TurnRow.id)
    .where(
        WaitRow.awaited_id == bindparam("turn_id"), has_status(TurnRow.status, TurnStatus.PENDING)
    )
)
_PAUSED: Final = NewEvent(kind="turn.paused")


class Stepping:
    """
    One step, made ready before its transaction begins, which may take several attempts.

    Locks are taken in one order: the graph, conversations, what the turn waits for, the turn, its
    root, those that wait for it. A step of a root on its own takes what it reserves in the
    statement that writes the turn.
    """

    def __init__(self, write: StepWrite) -> None:
        self._write = write
        self._turn_id = write.claim.turn_id
        self._newcomers = Newcomers(_newcomers(write))
        self._edges = _edges(write)
        self._may_close_circle = _may_close_circle(write, self._edges)
        self._reserving = Reserving(write.turn.place, write.reserve)
        self._turn_write = TurnWrite(write, self._reserving)
        self._moves = Moves(write.claim, write.planned, write.moves)
        self._messages = [message_columns(message) for message in write.messages]
        self._events = [event_columns(self._turn_id, event) for event in write.events]
        self._approvals = new_rows(self._turn_id, write.approvals)
        self._attempted = False

    def __call__(self, connection: Connection) -> Committed:
        written = self._written(connection) if self._attempted else None
        if written is not None:
            return written
        if self._may_close_circle:
            hold_graph(connection)
        newcomers = self._newcomers
        lanes = newcomers.take_lanes(connection)
        own = self._edges
        if own and self._write.turn.open_waits:
            own = without_open(connection, own)
        edges = join(connection, [*own, *newcomers.edges], fresh=newcomers.ids)
        has_ended = self._write.turn.status.is_ended
        if has_ended and self._write.turn.open_waits:
            lock_awaited(connection, [self._turn_id])
        row = self._write_turn(connection, sum(e.waiter_id == self._turn_id for e in edges))
        self._attempted = True
        self._moves.write(connection)
        added = newcomers.insert(connection, lanes, edges)
        insert_messages(connection, [*self._messages, *newcomers.triggers])
        insert_approvals(connection, self._approvals)
        withdrawn = withdraw(connection, [self._turn_id]) if self._write.withdraws else []
        insert_events(connection, [*self._events, *withdrawn, *self._later_events(row, added)])
        insert_edges(connection, edges)
        self._take_inputs(connection)
        if self._may_close_circle:
            ensure_acyclic(connection, self._turn_id)
        self._reserve(connection)
        woken = set_going(connection, [row]) if has_ended else []
        pending = {new["id"] for new in added if new["status"] is TurnStatus.PENDING}
        launched = [child.id for child in self._write.children if child.id in pending]
        return self._committed(row, [*launched, *woken])

    def _write_turn(self, connection: Connection, joined: int) -> RowMapping:
        """
        Write the turn itself, which proves that the claim is still held.

        Where nothing is changed, a look under lock tells why. What stood in the way may have gone
        meanwhile; with the turn locked, it does not come back.
        """
        statement, parameters = self._turn_write.statement, self._turn_write.parameters(joined)
        row = connection.execute(statement, parameters).mappings().one_or_none()
        if row is None:
            self._ensure_possible(self._look(connection))
            row = connection.execute(statement, parameters).mappings().one()
        return row

    def _look(self, connection: Connection) -> RowMapping | None:
        return connection.execute(_LOOK, {"turn_id": self._turn_id}).mappings().one_or_none()

    def _ensure_possible(self, row: RowMapping | None) -> None:
        """Say why the turn could not be written, if there still is a reason."""
        write = self._write
        if (
            row is None
            or row["status"] is not TurnStatus.RUNNING
            or (row["fence"], row["step"]) != (write.claim.fence, write.turn.step - 1)
        ):
            raise ClaimLost(
                f"turn {self._turn_id!r} is no longer held under fence {write.claim.fence}"
            )
        if write.turn.status.is_ended and row["open_inputs"] != len(write.inputs):
            raise InputsArrived(f"turn {self._turn_id!r} has input that this step does not take")
        if write.turn.place.root_id == self._turn_id:
            self._reserving.ensure_room(row)

    def _written(self, connection: Connection) -> Committed | None:
        """
        Return what an earlier attempt stored, whose connection was lost at its commit.

        If the turn is at this very step under this very fence, nobody else can have brought it
        there. The look waits for an attempt that the server has not finished yet.
        """
        row = self._look(connection)
        under_this_claim = (self._write.claim.fence, self._write.turn.step)
        if row is None or (row["fence"], row["step"]) != under_this_claim:
            return None
        key = {"turn_id": self._turn_id}
        woken = [TurnId(woke) for woke in connection.scalars(_SELECT_WOKEN, key)]
        return self._committed(row, [*(child.id for child in self._write.children), *woken])

    def _reserve(self, connection: Connection) -> None:
        if self._write.turn.place.root_id != self._turn_id:
            self._reserving.take(connection)
        self._reserving.take_tools(connection)

    def _take_inputs(self, connection: Connection) -> None:
        """Say of each input that the step takes which message it became."""
        taken = self._write.inputs
        if not taken:
            return
        statement = (
            update(InputRow)
            .where(
                InputRow.turn_id == self._turn_id,
                InputRow.id.in_(taken),
                InputRow.message_id.is_(None),
            )
            .values(message_id=case(dict(taken), value=InputRow.id))
            .returning(InputRow.id)
        )
        if len(connection.execute(statement).all()) != len(taken):
            raise InvalidMove("an input that this step takes is not queued for the turn")

    def _later_events(self, row: RowMapping, rows: Sequence[RowMapping]) -> Sequence[Columns]:
        """Return what tells of what the step set going besides what its writer knew."""
        own = [event_columns(self._turn_id, _PAUSED)] if self._was_paused(row) else []
        return [*own, *self._newcomers.events(rows)]

    def _was_paused(self, row: RowMapping) -> bool:
        """Say whether a pause that was asked for has taken the place of what was to be."""
        return row["status"] is TurnStatus.PAUSED is not self._write.turn.status

    def _committed(self, row: RowMapping, wake: Sequence[TurnId]) -> Committed:
        was_to_wait = self._write.turn.status is TurnStatus.WAITING
        return Committed(
            wake=tuple(wake),
            pause_requested=row["pause_requested"] or self._was_paused(row),
            cancel_requested=row["cancel_requested"],
            open_inputs=row["open_inputs"],
            open_approvals=row["open_approvals"],
            is_ready=was_to_wait and row["status"] is TurnStatus.PENDING,
        )


def _newcomers(write: StepWrite) -> Sequence[NewTurn]:
    return write.children if write.continuation is None else [*write.children, write.continuation]


def _edges(write: StepWrite) -> Sequence[Edge]:
    """Return what the turn begins to wait for: each turn once, whichever execution is first."""
    if write.turn.status is not TurnStatus.WAITING:
        return []
    edges = dict[TurnId, Edge]()
    working: list[ToolExecution | ExecutionMove] = [*write.planned, *write.moves]
    for execution in working:
        if execution.status is ExecutionStatus.WAITING:
            for awaited in execution.awaits:
                edge = Edge(waiter_id=write.turn.id, awaited_id=awaited, execution_id=execution.id)
                edges.setdefault(awaited, edge)
    return list(edges.values())


def _may_close_circle(write: StepWrite, edges: Sequence[Edge]) -> bool:
    """Say whether the turn will wait for anything but new turns that wait for nothing."""
    free = {new.id for new in write.children if new.starts_conversation and not new.awaits}
    return any(edge.awaited_id not in free for edge in edges)
