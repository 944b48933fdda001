"""What people and programs read of the store."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.orm import aliased

from runner.core.approvals import Approval
from runner.core.coordination import Input
from runner.core.cost import Cost
from runner.core.errors import NotFound
from runner.core.ids import ApprovalId, ConversationId, TurnId
from runner.core.messages import Message
from runner.core.ports import ApprovalFilter, TurnFilter
from runner.core.records import Conversation, Event, ToolExecution, Turn
from runner.core.states import TurnStatus
from runner.store.answering import find_approval
from runner.store.codec import (
    approval_from,
    conversation_from,
    event_from,
    execution_from,
    input_from,
    message_from,
    turn_from,
)
from runner.store.conditions import has_status
from runner.store.database import Database
from runner.store.reaching import TREE
from runner.store.statements import SELECT_EXECUTIONS, get_turn, no_conversation, no_turn
from runner.store.tables import (
    ApprovalRow,
    ConversationRow,
    EventRow,
    InputRow,
    MessageRow,
    ToolExecutionRow,
    TurnRow,
)

_CHILD: Final = aliased(TurnRow, name="child_turn")
_SELECT_CONVERSATION: Final = select(ConversationRow).where(
    ConversationRow.id == bindparam("conversation")
)
_SELECT_MESSAGES: Final = (
    select(MessageRow)
    .join(TurnRow, TurnRow.id == MessageRow.turn_id)
    .where(MessageRow.conversation_id == bindparam("conversation"))
    .order_by(
        MessageRow.seq.nulls_last(), TurnRow.lane.nulls_last(), MessageRow.created_at, MessageRow.id
    )
)
_SELECT_EVENTS: Final = (
    select(EventRow)
    .where(EventRow.turn_id == bindparam("turn"), EventRow.id > bindparam("after"))
    .order_by(EventRow.id)
    .limit(bindparam("most"))
)
_SELECT_INPUTS: Final = (
    select(InputRow).where(InputRow.turn_id == bindparam("turn")).order_by(InputRow.position)
)
_SELECT_TREE: Final = (
    select(TurnRow)
    .join(TREE, TREE.c.id == TurnRow.id)
    .outerjoin(ToolExecutionRow, ToolExecutionRow.id == TurnRow.launched_by)
    .order_by(TurnRow.depth, TurnRow.created_at, ToolExecutionRow.position.nulls_last(), TurnRow.id)
)
_tops = (
    select(TurnRow.id, TurnRow.id.label("top"))
    .where(TurnRow.id.in_(bindparam("tops", expanding=True)))
    .cte("trees", recursive=True)
)
_TREES: Final = _tops.union_all(
    select(_CHILD.id, _tops.c.top).join(_tops, _CHILD.parent_id == _tops.c.id)
)
_SUM_COSTS: Final = (
    select(
        _TREES.c.top,
        func.sum(TurnRow.cost).label("usd"),
        func.sum(TurnRow.unpriced_requests).label("unpriced"),
    )
    .join(TurnRow, TurnRow.id == _TREES.c.id)
    .group_by(_TREES.c.top)
)
#: How many turns one statement names; databases limit their parameters.
_BATCH: Final = 1000
_SELECT_LATEST: Final = (
    select(TurnRow)
    .where(TurnRow.conversation_id == bindparam("conversation"))
    .order_by(TurnRow.created_at.desc(), TurnRow.id.desc())
    .limit(1)
)
_COUNT: Final = (
    select(TurnRow.status, func.count().label("turns"))
    .where(has_status(TurnRow.status, *(s for s in TurnStatus if not s.is_ended)))
    .group_by(TurnRow.status)
)


class SqlViews:
    """The views over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def turn(self, turn_id: TurnId) -> Turn:
        return self._database.read(lambda connection: get_turn(connection, turn_id))

    def turns(self, which: TurnFilter) -> Sequence[Turn]:
        return [turn_from(row) for row in self._database.rows(_matching(which))]

    def conversation(self, conversation_id: ConversationId) -> Conversation:
        rows = self._database.rows(_SELECT_CONVERSATION, {"conversation": conversation_id})
        if not rows:
            raise no_conversation(conversation_id)
        return conversation_from(rows[0])

    def messages(
        self, conversation_id: ConversationId, *, queued: bool = True
    ) -> Sequence[Message]:
        """Return a conversation's messages, and after them the triggers of turns not started."""
        statement = (
            _SELECT_MESSAGES if queued else _SELECT_MESSAGES.where(MessageRow.seq.is_not(None))
        )
        rows = self._database.rows(statement, {"conversation": conversation_id})
        return [message_from(row) for row in rows]

    def tree(self, turn_id: TurnId) -> Sequence[Turn]:
        """Return a turn and everything below it, parents before children, in order of launch."""
        rows = self._database.rows(_SELECT_TREE, {"top": turn_id})
        if not rows:
            raise no_turn(turn_id)
        return [turn_from(row) for row in rows]

    def costs(self, turn_ids: Sequence[TurnId]) -> Mapping[TurnId, Cost]:
        """Return what turns cost, each with everything below it; unknown ones are left out."""
        batches = (turn_ids[first : first + _BATCH] for first in range(0, len(turn_ids), _BATCH))
        return {
            TurnId(row["top"]): Cost(usd=row["usd"], unpriced_requests=int(row["unpriced"]))
            for batch in batches
            for row in self._database.rows(_SUM_COSTS, {"tops": list(batch)})
        }

    def latest_turn(self, conversation_id: ConversationId) -> Turn:
        """Return the turn of a conversation that was added last."""
        rows = self._database.rows(_SELECT_LATEST, {"conversation": conversation_id})
        if not rows:
            raise NotFound(f"there is no turn in a conversation {conversation_id!r}")
        return turn_from(rows[0])

    def tool_executions(self, turn_id: TurnId) -> Sequence[ToolExecution]:
        rows = self._database.rows(SELECT_EXECUTIONS, {"turn": turn_id})
        return [execution_from(row) for row in rows]

    def approval(self, approval_id: ApprovalId) -> Approval:
        return find_approval(self._database, approval_id)

    def approvals(self, which: ApprovalFilter) -> Sequence[Approval]:
        """Return approvals: open ones that were asked first come first, answered ones last."""
        return [approval_from(row) for row in self._database.rows(_asked(which))]

    def inputs(self, turn_id: TurnId) -> Sequence[Input]:
        """Return every input that a turn was given, in order."""
        rows = self._database.rows(_SELECT_INPUTS, {"turn": turn_id})
        return [input_from(row) for row in rows]

    def events(self, turn_id: TurnId, *, after: int = 0, limit: int = 500) -> Sequence[Event]:
        """Return a turn's events with an id above *after*, in order."""
        rows = self._database.rows(_SELECT_EVENTS, {"turn": turn_id, "after": after, "most": limit})
        return [event_from(row) for row in rows]

    def counts(self) -> dict[TurnStatus, int]:
        """Count the turns that have not ended, by status."""
        return {row["status"]: row["turns"] for row in self._database.rows(_COUNT)}


def _matching(which: TurnFilter) -> Select[TurnRow]:
    statement = select(TurnRow).order_by(TurnRow.created_at.desc(), TurnRow.id.desc())
    if which.statuses:
        statement = statement.where(has_status(TurnRow.status, *which.statuses))
    if which.agent is not None:
        statement = statement.where(TurnRow.agent == which.agent)
    if which.conversation_id is not None:
        statement = statement.where(TurnRow.conversation_id == which.conversation_id)
    if which.roots:
        statement = statement.where(TurnRow.parent_id.is_(None))
    return statement.limit(which.limit)


def _asked(which: ApprovalFilter) -> Select[ApprovalRow]:
    is_answered = ApprovalRow.answered_at.is_not(None)
    # Those of one response were asked at the same time, and are listed in the order of the calls.
    order = (ApprovalRow.asked_at, ApprovalRow.turn_id, ToolExecutionRow.position)
    statement = select(ApprovalRow).join(
        ToolExecutionRow, ToolExecutionRow.id == ApprovalRow.execution_id
    )
    if which.turn_id is not None:
        statement = statement.where(ApprovalRow.turn_id == which.turn_id)
    if which.answered:
        statement = statement.order_by(is_answered, *order)
    else:
        statement = statement.where(ApprovalRow.answered_at.is_(None)).order_by(*order)
    return statement.limit(which.limit)
