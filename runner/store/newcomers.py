"""Turns on their way into the store, one or many in as many statements."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import (
    Boolean,
    Connection,
    RowMapping,
    bindparam,
    case,
    false,
    insert,
    literal_column,
    null,
    select,
    update,
)

from runner.core.errors import ConversationBusy, UsageError
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import storable_text
from runner.core.model import Usage
from runner.core.records import NewEvent, NewTurn
from runner.core.states import LIVE, Phase, TurnStatus
from runner.store.clock import db_now, db_now_plus
from runner.store.codec import (
    Columns,
    ancestors_to_json,
    awaits_to_json,
    event_columns,
    limits_to_json,
    message_columns,
    to_json,
    to_json_or_null,
    usage_to_json,
)
from runner.store.conditions import has_status, within_parent
from runner.store.statements import next_place, no_conversation
from runner.store.tables import ConversationRow, MessageRow, TurnRow
from runner.store.waits import Edge

TAKE_LANES: Final = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("conversation"))
    .values(lanes=ConversationRow.lanes + bindparam("more"))
    .returning(ConversationRow.lanes)
)
_SELECT_CONVERSATION: Final = select(ConversationRow.lanes).where(
    ConversationRow.id == bindparam("conversation")
)
_INSERT_CONVERSATIONS: Final = (
    insert(ConversationRow).values(created_at=db_now()).returning(ConversationRow.id)
)
# What every new turn begins with is written into the statement: parameters are few, and each row of
# many has its own.
_INSERT_TURNS: Final = (
    insert(TurnRow)
    .values(
        phase=literal_column(repr(Phase.MODEL.value)),
        step=literal_column("0"),
        iterations=literal_column("1"),
        tool_executions=literal_column("0"),
        attempts=literal_column("0"),
        use_iterations=literal_column("1"),
        use_tool_executions=literal_column("0"),
        use_children=literal_column("0"),
        open_inputs=literal_column("0"),
        open_approvals=literal_column("0"),
        pause_requested=false(),
        cancel_requested=false(),
        usage=literal_column(repr(usage_to_json(Usage()))),
        cost=literal_column("0"),
        unpriced_requests=literal_column("0"),
        created_at=db_now(),
        started_at=case((bindparam("is_claimed", type_=Boolean()), db_now()), else_=null()),
        due_at=case((bindparam("is_due", type_=Boolean()), db_now()), else_=null()),
        deadline_at=within_parent(bindparam("parent"), db_now_plus("timeout")),
        lease_expires_at=db_now_plus("lease"),
    )
    .returning(TurnRow)
)
_SELECT_LIVE: Final = (
    select(TurnRow.id)
    .where(
        TurnRow.conversation_id == bindparam("conversation"),
        TurnRow.id != bindparam("newcomer"),
        has_status(TurnRow.status, *LIVE),
    )
    .limit(1)
)


class Newcomers:
    """
    Turns to be stored with their triggers, made ready before the transaction begins.

    The order of the calls is that of the locks: the lanes of conversations first, then turns that
    are there already, then what is new.
    """

    def __init__(self, turns: Sequence[NewTurn], *, may_run: bool = False) -> None:
        for new in turns:
            _ensure_complete(new, may_run=may_run)
        self._turns = turns
        self._rows = [_turn_columns(new) for new in turns]
        self._conversations = [_conversation_columns(n) for n in turns if n.starts_conversation]
        self.ids = [new.id for new in turns]
        #: What they wait for.
        self.edges = [
            Edge(waiter_id=new.id, awaited_id=awaited)
            for new in turns
            for awaited in dict.fromkeys(new.awaits)
        ]
        self.triggers = [message_columns(new.trigger) for new in turns]

    def take_lanes(self, connection: Connection) -> Mapping[TurnId, int | None]:
        """
        Give each turn its place, those of one conversation one after another.

        Submitters of a conversation take its lanes under the lock on its row.

        Raises:
            NotFound: A conversation does not exist.
        """
        given = {n.id: None if _is_prepared(n) else 1 for n in self._turns if n.starts_conversation}
        joining = [new for new in self._turns if not new.starts_conversation]
        for conversation_id in sorted({new.conversation_id for new in joining}):
            here = [new for new in joining if new.conversation_id == conversation_id]
            submitted = [new.id for new in here if not _is_prepared(new)]
            last = _raise_lanes(connection, conversation_id, more=len(submitted))
            given |= {new.id: None for new in here}
            given |= {
                turn_id: last - len(submitted) + place
                for place, turn_id in enumerate(submitted, start=1)
            }
        return given

    def ensure_idle(self, connection: Connection) -> None:
        """
        Refuse a turn that is to run at once while another of its conversation is live.

        Raises:
            ConversationBusy: One is.
        """
        for new in self._turns:
            if new.status is not TurnStatus.RUNNING or new.starts_conversation:
                continue
            key = {"conversation": new.conversation_id, "newcomer": new.id}
            live = connection.execute(_SELECT_LIVE, key).scalar()
            if live is not None:
                raise ConversationBusy(
                    f"turn {live!r} of conversation {new.conversation_id!r} has not ended"
                )

    def insert(
        self,
        connection: Connection,
        lanes: Mapping[TurnId, int | None],
        open_edges: Sequence[Edge],
    ) -> Sequence[RowMapping]:
        """Store the turns, and their conversations where those are new, and return the rows."""
        if not self._turns:
            return []
        waits = Counter(edge.waiter_id for edge in open_edges)
        waiters = Counter(edge.awaited_id for edge in open_edges)
        rows = [
            row
            | {
                "status": _status(new, waits[new.id]),
                "lane": lanes[new.id],
                "open_waits": waits[new.id],
                "waiters": waiters[new.id],
                "is_due": new.status is TurnStatus.PENDING and not waits[new.id],
            }
            for new, row in zip(self._turns, self._rows, strict=True)
        ]
        if self._conversations:
            connection.execute(_INSERT_CONVERSATIONS, self._conversations)
        return connection.execute(_INSERT_TURNS, rows).mappings().all()

    def events(self, rows: Sequence[RowMapping]) -> Sequence[Columns]:
        """Return what tells of the turns as they were stored."""
        return [event_columns(TurnId(row["id"]), added(row)) for row in rows]


def insert_running_trigger(connection: Connection, trigger: Columns) -> None:
    """Store the trigger of a turn that runs at once, next in its conversation."""
    place = {"seq": next_place(trigger["conversation_id"]), "created_at": db_now()}
    connection.execute(insert(MessageRow).values(trigger | place))


def added(row: RowMapping) -> NewEvent:
    """Return the event that tells of a turn as it was just stored or submitted."""
    match row["status"]:
        case TurnStatus.PREPARED:
            return NewEvent(kind="turn.prepared")
        case TurnStatus.RUNNING:
            body = {"fence": row["fence"], "worker_id": row["worker_id"]}
            return NewEvent(kind="turn.started", body=body)
        case TurnStatus.WAITING:
            body = {"lane": row["lane"], "open_waits": row["open_waits"]}
            return NewEvent(kind="turn.submitted", body=body)
        case _:
            return NewEvent(kind="turn.submitted", body={"lane": row["lane"]})


def _ensure_complete(new: NewTurn, *, may_run: bool) -> None:
    allowed = {TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING}
    if new.status not in allowed:
        raise UsageError(f"a new turn cannot be {new.status}")
    if new.status is not TurnStatus.RUNNING:
        return
    if not may_run:
        raise UsageError("only a turn that is added by itself can run at once")
    if new.worker_id is None or new.lease is None:
        raise UsageError("a turn that runs at once needs a worker and a lease")


def _is_prepared(new: NewTurn) -> bool:
    return new.status is TurnStatus.PREPARED


def _raise_lanes(connection: Connection, conversation_id: ConversationId, *, more: int) -> int:
    """Return the lane given out last, which is the last of *more* new ones."""
    key: dict[str, object] = {"conversation": conversation_id}
    if more:
        last = connection.execute(TAKE_LANES, key | {"more": more}).scalar()
    else:
        last = connection.execute(_SELECT_CONVERSATION, key).scalar()
    if last is None:
        raise no_conversation(conversation_id)
    return int(last)


def _status(new: NewTurn, open_waits: int) -> TurnStatus:
    if not open_waits or new.status is TurnStatus.PREPARED:
        return new.status
    if new.status is TurnStatus.RUNNING:
        raise UsageError("a turn that waits for others cannot run at once")
    return TurnStatus.WAITING


def _conversation_columns(new: NewTurn) -> Columns:
    return {
        "id": new.conversation_id,
        "agent": storable_text(new.agent),
        "lanes": 0 if _is_prepared(new) else 1,
    }


def _turn_columns(new: NewTurn) -> Columns:
    place = new.place
    runs = new.status is TurnStatus.RUNNING
    return {
        "id": new.id,
        "conversation_id": new.conversation_id,
        "agent": storable_text(new.agent),
        "definition_hash": new.definition_hash,
        "kind": new.kind,
        "fence": int(runs),
        "claims": int(runs),
        "principal": to_json_or_null(new.principal),
        "context": to_json(new.context),
        "metadata": to_json(new.metadata),
        "worker_id": new.worker_id if runs else None,
        "root_id": place.root_id,
        "parent_id": place.parent_id,
        "launched_by": place.launched_by,
        "depth": place.depth,
        "hops": place.hops,
        "tree_limits": limits_to_json(place.limits),
        "ancestors": ancestors_to_json(place.ancestors),
        "awaits": awaits_to_json(new.awaits),
        "is_inline": runs,
        "callback_to": new.callback_to,
        "is_claimed": runs,
        "parent": place.parent_id,
        "timeout": None if _is_prepared(new) else new.timeout.total_seconds(),
        "lease": new.lease.total_seconds() if runs and new.lease else None,
    }
