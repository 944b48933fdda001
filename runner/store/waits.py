"""Waits: the edges from turns to those that have to end first, which never form a circle."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    Connection,
    bindparam,
    case,
    exists,
    insert,
    literal,
    select,
    text,
    true,
    union_all,
    update,
)
from sqlalchemy.orm import aliased

from runner.core.errors import WaitCycle
from runner.core.ids import ExecutionId, TurnId
from runner.core.states import LIVE
from runner.store.clock import db_now
from runner.store.conditions import has_status, in_order
from runner.store.statements import no_turn
from runner.store.tables import TurnRow, WaitRow

#: Held by whoever adds an edge that could close a circle, until the edge can be seen.
_GRAPH_LOCK: Final = 7_021_964_114

_AHEAD_IN_LANE: Final = aliased(TurnRow, name="ahead_in_lane")
_NEXT: Final = aliased(TurnRow, name="next_turn")

_JOIN: Final = (
    update(TurnRow)
    .where(
        TurnRow.id.in_(in_order(TurnRow.id.in_(bindparam("awaited", expanding=True)))),
        TurnRow.ended_at.is_(None),
    )
    .values(waiters=TurnRow.waiters + bindparam("more"))
    .returning(TurnRow.id)
)
_SELECT_KNOWN: Final = select(TurnRow.id).where(TurnRow.id.in_(bindparam("ids", expanding=True)))
_SELECT_OPEN: Final = select(WaitRow.waiter_id, WaitRow.awaited_id).where(
    WaitRow.waiter_id.in_(bindparam("waiters", expanding=True)), WaitRow.ended_at.is_(None)
)
_INSERT: Final = insert(WaitRow).values(created_at=db_now()).returning(WaitRow.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One turn's wait for another, and the execution it is for."""

    waiter_id: TurnId
    awaited_id: TurnId
    execution_id: ExecutionId | None = None


def hold_graph(connection: Connection) -> None:
    """
    Keep others from adding edges until this transaction is over.

    Of two that add opposite edges at the same time, the second sees what the first has added. On
    SQLite the lock that every writer holds does this.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _GRAPH_LOCK})


def join(
    connection: Connection, edges: Sequence[Edge], *, fresh: Collection[TurnId] = ()
) -> Sequence[Edge]:
    """
    Count *edges* at the turns they lead to, and return those whose turn has not ended.

    A turn that ends at the same moment either is counted at first, and then sees that somebody
    waits, or is seen here to have ended. The awaited turns stay locked.

    Args:
        connection: A transaction that has no turn locked yet.
        edges: What is to be waited for.
        fresh: Turns that this transaction is going to add.

    Raises:
        WaitCycle: A turn is to wait for itself.
        NotFound: A turn to wait for does not exist.
    """
    for edge in edges:
        if edge.waiter_id == edge.awaited_id:
            raise WaitCycle(f"turn {edge.waiter_id!r} cannot wait for itself")
    counts = Counter(edge.awaited_id for edge in edges if edge.awaited_id not in fresh)
    joined = set(fresh)
    for more, ids in by_count(counts).items():
        rows = connection.scalars(_JOIN, {"awaited": ids, "more": more})
        joined.update(TurnId(turn_id) for turn_id in rows)
    _ensure_known(connection, counts.keys() - joined)
    return [edge for edge in edges if edge.awaited_id in joined]


def without_open(connection: Connection, edges: Sequence[Edge]) -> Sequence[Edge]:
    """Leave out the edges that are there already, of a turn that has waited before."""
    waiters = sorted({edge.waiter_id for edge in edges})
    rows = connection.execute(_SELECT_OPEN, {"waiters": waiters}).all()
    known = {(row.waiter_id, row.awaited_id) for row in rows}
    return [edge for edge in edges if (edge.waiter_id, edge.awaited_id) not in known]


def insert_edges(connection: Connection, edges: Sequence[Edge]) -> None:
    if edges:
        connection.execute(_INSERT, [_columns(edge) for edge in edges])


def ensure_acyclic(connection: Connection, waiter_id: TurnId) -> None:
    """
    Refuse the edges of a turn that, as stored now, would have to end before it ends.

    Raises:
        WaitCycle: It would.
    """
    if connection.execute(_CLOSES_CIRCLE, {"waiter": waiter_id}).scalar_one():
        raise WaitCycle(f"turn {waiter_id!r} would wait for a turn that cannot end before it")


def by_count(counts: Mapping[TurnId, int]) -> Mapping[int, Sequence[TurnId]]:
    """Group turns by their number, which is nearly always 1 for all."""
    groups = defaultdict[int, list[TurnId]](list)
    for turn_id, number in sorted(counts.items()):
        groups[number].append(turn_id)
    return groups


def _ensure_known(connection: Connection, turn_ids: Iterable[TurnId]) -> None:
    ids = sorted(turn_ids)
    if not ids:
        return
    unknown = set(ids).difference(connection.scalars(_SELECT_KNOWN, {"ids": ids}))
    if unknown:
        raise no_turn(min(unknown))


def _columns(edge: Edge) -> Mapping[str, object]:
    return {
        "waiter_id": edge.waiter_id,
        "awaited_id": edge.awaited_id,
        "execution_id": edge.execution_id,
    }


# Whatever has to end before a turn does: what it waits for, and what is before it in its lane.
# The way through the graph takes either kind of step from each turn. Both databases allow a
# recursive query to name itself once, so the kinds are rows of their own.
_ahead = (
    select(TurnRow.id, TurnRow.conversation_id, TurnRow.lane, literal(1).label("is_start"))
    .where(TurnRow.id == bindparam("waiter"))
    .cte("ahead", recursive=True)
)
_kinds = union_all(select(literal(1).label("kind")), select(literal(2))).subquery("kinds")
_before_in_lane = (
    select(_AHEAD_IN_LANE.id)
    .where(
        _AHEAD_IN_LANE.conversation_id == _ahead.c.conversation_id,
        _AHEAD_IN_LANE.lane < _ahead.c.lane,
        has_status(_AHEAD_IN_LANE.status, *LIVE),
    )
    .order_by(_AHEAD_IN_LANE.lane.desc())
    .limit(1)
    .scalar_subquery()
)
_reached = _ahead.union(
    select(_NEXT.id, _NEXT.conversation_id, _NEXT.lane, literal(0))
    .select_from(_ahead)
    .join(_kinds, true())
    .outerjoin(
        WaitRow,
        (_kinds.c.kind == 1) & (WaitRow.waiter_id == _ahead.c.id) & WaitRow.ended_at.is_(None),
    )
    .join(_NEXT, _NEXT.id == case((_kinds.c.kind == 1, WaitRow.awaited_id), else_=_before_in_lane))
    .where(_NEXT.ended_at.is_(None))
)
_CLOSES_CIRCLE: Final = select(
    exists().where(_reached.c.id == bindparam("waiter"), _reached.c.is_start == 0)
)
