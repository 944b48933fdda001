"""Which turns a control acts on, each locked in the order that everybody keeps to."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Connection, RowMapping, bindparam, select
from sqlalchemy.orm import aliased

from runner.core.coordination import Reach, Receipt, ReceiptState
from runner.core.ids import TurnId
from runner.core.states import TurnStatus
from runner.store.conditions import in_order
from runner.store.statements import no_turn
from runner.store.tables import TurnRow

_CHILD: Final = aliased(TurnRow, name="child_turn")
_top = (
    select(TurnRow.id, TurnRow.depth)
    .where(TurnRow.id == bindparam("top"))
    .cte("tree", recursive=True)
)
#: A turn and everything below it.
TREE: Final = _top.union_all(
    select(_CHILD.id, _CHILD.depth).join(_top, _CHILD.parent_id == _top.c.id)
)
_COLUMNS: Final = (
    TurnRow.id,
    TurnRow.status,
    TurnRow.depth,
    TurnRow.created_at,
    TurnRow.started_at,
    TurnRow.open_inputs,
    TurnRow.open_approvals,
    TurnRow.pause_requested,
    TurnRow.cancel_requested,
)
_LOCKED: Final = in_order(TurnRow.ended_at.is_(None)).with_only_columns(
    *_COLUMNS, maintain_column_froms=True
)
_LOCK: Final = {
    Reach.RETAIN: _LOCKED.where(TurnRow.id == bindparam("top")),
    Reach.CASCADE: _LOCKED.where(TurnRow.id.in_(select(TREE.c.id))),
}
_SELECT_STATUS: Final = select(TurnRow.status).where(TurnRow.id == bindparam("top"))

#: Acts on turns that are locked and have not ended, and says what became of each.
Act: TypeAlias = Callable[[Connection, Sequence[RowMapping]], Iterable[Receipt]]


def reach_turns(
    connection: Connection, turn_id: TurnId, reach: Reach, act: Act
) -> Sequence[Receipt]:
    """
    Lock the turns that have not ended, and act on each once; parents' receipts come first.

    What a turn launched before it was locked may have been missed, so those below are looked for
    until there are no more.

    Raises:
        NotFound: There is no such turn.
    """
    places = dict[TurnId, tuple[object, ...]]()
    receipts = list[Receipt]()
    while rows := _unseen(connection.execute(_LOCK[reach], {"top": turn_id}).mappings(), places):
        places |= {row["id"]: (row["depth"], row["created_at"], row["id"]) for row in rows}
        receipts += act(connection, rows)
        if reach is Reach.RETAIN:
            break
    if turn_id not in places:
        receipts.append(_ended(connection, turn_id))
        places[turn_id] = (-1,)
    return sorted(receipts, key=lambda receipt: places[receipt.turn_id])


def _unseen(
    rows: Iterable[RowMapping], seen: dict[TurnId, tuple[object, ...]]
) -> Sequence[RowMapping]:
    return [row for row in rows if row["id"] not in seen]


def _ended(connection: Connection, turn_id: TurnId) -> Receipt:
    status: TurnStatus | None = connection.execute(_SELECT_STATUS, {"top": turn_id}).scalar()
    if status is None:
        raise no_turn(turn_id)
    return Receipt(turn_id=turn_id, state=ReceiptState.UNCHANGED, status=status)
