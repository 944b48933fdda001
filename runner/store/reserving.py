"""What a step takes from the limits of its tree: all of it, or nothing where one has no room."""

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, RowMapping, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from runner.core.errors import LimitReached
from runner.core.jsonvalue import storable_text
from runner.core.tree import Place, Reservation, TreeLimits
from runner.store.tables import TreeToolUseRow, TurnRow

#: Alike, and of no common type.
_INSERTS: Final[
    Mapping[str, Callable[[type[TreeToolUseRow]], postgresql.Insert | sqlite.Insert]]
] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}
_SELECT_USE: Final = (
    select(TurnRow.use_iterations, TurnRow.use_tool_executions, TurnRow.use_children)
    .where(TurnRow.id == bindparam("root"))
    .with_for_update(key_share=True)
)
_SELECT_TOOL_USE: Final = select(TreeToolUseRow.used).where(
    TreeToolUseRow.root_id == bindparam("root"), TreeToolUseRow.tool == bindparam("tool")
)


class Reserving:
    """
    One reservation at the root of a turn's tree.

    Of many turns that take at the same time, each changes the root's row in one statement that
    says how much room there must be, so that no limit is ever overshot. What is given back always
    has room.
    """

    def __init__(self, place: Place, reservation: Reservation) -> None:
        self._root_id = place.root_id
        self._limits = place.limits
        self._by_name = {
            name: number
            for name, number in sorted(reservation.by_name.items())
            if name in place.limits.max_tool_executions_by_name and number
        }
        self._wanted = _wanted(reservation, place.limits)
        #: Goes into a statement that changes the root's row anyway.
        self.values: Mapping[str, object] = {
            f"use_{name}": getattr(TurnRow, f"use_{name}") + number
            for name, (number, _) in self._wanted.items()
        }
        self.conditions: tuple[ColumnElement[bool], ...] = tuple(
            getattr(TurnRow, f"use_{name}") + number <= limit
            for name, (number, limit) in self._wanted.items()
            if number > 0
        )
        self._statement = (
            update(TurnRow)
            .where(TurnRow.id == self._root_id, *self.conditions)
            .values(self.values)
            .returning(TurnRow.id)
        )

    def take(self, connection: Connection) -> None:
        """
        Change the root's row, locking it.

        Raises:
            LimitReached: A limit has no room; the transaction is to be rolled back.
        """
        if not self._wanted:
            return
        if connection.execute(self._statement).one_or_none() is None:
            row = connection.execute(_SELECT_USE, {"root": self._root_id}).mappings().one()
            self.ensure_room(row)
            connection.execute(self._statement).one()

    def take_tools(self, connection: Connection) -> None:
        """
        Count executions of the tools that have a limit of their own; the root's row is locked.

        Raises:
            LimitReached: There is no room for one of them.
        """
        for tool, number in self._by_name.items():
            limit = self._limits.max_tool_executions_by_name[tool]
            if not self._count(connection, tool, number, limit):
                key = {"root": self._root_id, "tool": storable_text(tool)}
                used = connection.execute(_SELECT_TOOL_USE, key).scalar() or 0
                raise LimitReached(
                    path=f"limits.max_tool_executions_by_name.{tool}",
                    limit=limit,
                    left=max(limit - used, 0),
                )

    def ensure_room(self, row: RowMapping) -> None:
        """
        Say which limit has no room, given the root's row, if any has not.

        Raises:
            LimitReached: It names the first one.
        """
        for name, (number, limit) in self._wanted.items():
            left = limit - row[f"use_{name}"]
            if 0 < number > left:
                raise LimitReached(path=f"limits.max_{name}", limit=limit, left=max(left, 0))

    def _count(self, connection: Connection, tool: str, number: int, limit: int) -> bool:
        if number > limit:
            return False
        first = _INSERTS[connection.dialect.name](TreeToolUseRow).values(
            root_id=self._root_id, tool=storable_text(tool), used=number
        )
        used = TreeToolUseRow.used + number
        upsert = first.on_conflict_do_update(
            index_elements=[TreeToolUseRow.root_id, TreeToolUseRow.tool],
            set_={"used": used},
            where=used <= limit if number > 0 else None,
        ).returning(TreeToolUseRow.used)
        return connection.execute(upsert).one_or_none() is not None


def parent_takes(place: Place) -> Reserving:
    """Return what a turn takes that is added below another: itself, and its first iteration."""
    return Reserving(place, Reservation(iterations=1, children=1))


def _wanted(reservation: Reservation, limits: TreeLimits) -> Mapping[str, tuple[int, int]]:
    wanted = {
        "iterations": (reservation.iterations, limits.max_iterations),
        "tool_executions": (reservation.tool_executions, limits.max_tool_executions),
        "children": (reservation.children, limits.max_children),
    }
    return {name: pair for name, pair in wanted.items() if pair[0]}
