"""The transaction that stores one turn."""

from typing import Final

from sqlalchemy import Connection, bindparam

from runner.core.errors import InvalidMove
from runner.core.records import NewTurn, Turn
from runner.core.states import TurnStatus
from runner.core.tree import Place
from runner.store.conditions import in_order
from runner.store.newcomers import Newcomers, insert_running_trigger
from runner.store.reserving import parent_takes
from runner.store.rows import turn_from
from runner.store.statements import insert_events, insert_messages, no_turn
from runner.store.tables import TurnRow
from runner.store.waits import insert_edges, join

#: A parent and its root, which a cancel that reaches them locks in the same order.
_LOCK_PARENT: Final = in_order(TurnRow.id.in_(bindparam("ids", expanding=True))).with_only_columns(
    TurnRow.id, TurnRow.status, TurnRow.cancel_requested
)


class Addition:
    """
    One turn, which may be a root or belong below another.

    A turn that nobody knows yet has none that waits for it, so whatever it waits for closes no
    circle.
    """

    def __init__(self, new: NewTurn) -> None:
        self._new = new
        self._newcomers = Newcomers([new], may_run=True)
        self._takes = None if new.place.is_root else parent_takes(new.place)

    def __call__(self, connection: Connection) -> Turn:
        newcomers = self._newcomers
        lanes = newcomers.take_lanes(connection)
        newcomers.ensure_idle(connection)
        edges = join(connection, newcomers.edges)
        if self._takes is not None:
            _ensure_may_launch(connection, self._new.place)
            self._takes.take(connection)
        [row] = newcomers.insert(connection, lanes, edges)
        if self._new.status is TurnStatus.RUNNING:
            insert_running_trigger(connection, newcomers.triggers[0])
        else:
            insert_messages(connection, newcomers.triggers)
        insert_events(connection, newcomers.events([row]))
        insert_edges(connection, edges)
        return turn_from(row)


def _ensure_may_launch(connection: Connection, place: Place) -> None:
    """
    Refuse a turn below one that has ended or is to be cancelled.

    Of a cancel and a launch at the same moment, one comes first: the cancel finds the new turn, or
    the launch finds the parent cancelled.
    """
    rows = connection.execute(_LOCK_PARENT, {"ids": [place.parent_id, place.root_id]}).mappings()
    parent = next((row for row in rows if row["id"] == place.parent_id), None)
    if parent is None:
        raise no_turn(place.parent_id)
    if parent["status"].is_ended or parent["cancel_requested"]:
        raise InvalidMove(f"turn {place.parent_id!r} is over and launches nothing more")
