"""How a turn is claimed and written to."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from sqlalchemy import bindparam, select, update

from runner.core.approvals import Approval
from runner.core.coordination import Input, Outcome
from runner.core.ids import ConversationId, TurnId, WorkerId
from runner.core.messages import Message
from runner.core.records import Claim, ClaimedTurn, Committed, StepWrite, ToolExecution
from runner.core.states import TurnStatus
from runner.store.claiming import Claiming
from runner.store.clock import db_now_plus
from runner.store.conditions import has_status
from runner.store.database import Database
from runner.store.ending import startable
from runner.store.rows import approval_from, execution_from, input_from, message_from, outcome_from
from runner.store.statements import SELECT_EXECUTIONS
from runner.store.stepping import Stepping
from runner.store.tables import ApprovalRow, InputRow, MessageRow, TurnRow

_SELECT_TRANSCRIPT: Final = (
    select(MessageRow)
    .where(MessageRow.conversation_id == bindparam("conversation"), MessageRow.seq.is_not(None))
    .order_by(MessageRow.seq)
)
_SELECT_OUTCOMES: Final = select(TurnRow).where(TurnRow.id.in_(bindparam("ids", expanding=True)))
_SELECT_INPUTS: Final = (
    select(InputRow)
    .where(InputRow.turn_id == bindparam("turn"), InputRow.message_id.is_(None))
    .order_by(InputRow.position)
)
_SELECT_APPROVALS: Final = (
    select(ApprovalRow)
    .where(ApprovalRow.turn_id == bindparam("turn"))
    .order_by(ApprovalRow.asked_at, ApprovalRow.id)
)
_RENEW: Final = (
    update(TurnRow)
    .where(
        TurnRow.id.in_(bindparam("turns", expanding=True)),
        TurnRow.worker_id.in_(bindparam("workers", expanding=True)),
        has_status(TurnRow.status, TurnStatus.RUNNING),
    )
    .values(lease_expires_at=db_now_plus("lease"))
    .returning(TurnRow.id, TurnRow.fence, TurnRow.worker_id)
)


class SqlJournal:
    """The journal over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(
        self, turn_id: TurnId, worker_id: WorkerId, *, lease: timedelta, inline: bool = False
    ) -> ClaimedTurn | None:
        """
        Claim a pending, due turn that is first in its lane, or return None.

        Its status is part of the condition, so of two workers that saw the same pending turn one
        changes no row; were there a turn of the same conversation running all the same, the unique
        index would refuse a second.
        """
        return self._database.write(
            Claiming(turn_id, worker_id, lease, inline=inline), on_conflict=lambda: None
        )

    def transcript(self, conversation_id: ConversationId) -> Sequence[Message]:
        rows = self._database.rows(_SELECT_TRANSCRIPT, {"conversation": conversation_id})
        return [message_from(row) for row in rows]

    def executions(self, turn_id: TurnId) -> Sequence[ToolExecution]:
        rows = self._database.rows(SELECT_EXECUTIONS, {"turn": turn_id})
        return [execution_from(row) for row in rows]

    def outcomes(self, turn_ids: Sequence[TurnId]) -> Sequence[Outcome]:
        """Return how turns ended or stand, in the order asked for; unknown ones are left out."""
        rows = self._database.rows(_SELECT_OUTCOMES, {"ids": list(turn_ids)})
        outcomes = {row["id"]: outcome_from(row) for row in rows}
        return [outcomes[turn_id] for turn_id in turn_ids if turn_id in outcomes]

    def inputs(self, turn_id: TurnId) -> Sequence[Input]:
        """Return the turn's queued inputs in order."""
        rows = self._database.rows(_SELECT_INPUTS, {"turn": turn_id})
        return [input_from(row) for row in rows]

    def approvals(self, turn_id: TurnId) -> Sequence[Approval]:
        """Return what was asked for the turn's calls, answered or not."""
        rows = self._database.rows(_SELECT_APPROVALS, {"turn": turn_id})
        return [approval_from(row) for row in rows]

    def commit(self, write: StepWrite, *, insist: Callable[[], bool] = lambda: False) -> Committed:
        """
        Write one step, with everything it sets going: all of it or nothing.

        Fence, status and step are part of the condition, so a claim that was taken over changes
        nothing, and one step is not written twice. What may start once the turn has ended is
        looked for after the commit.
        """
        committed = self._database.write(Stepping(write), insist=insist)
        if not write.turn.status.is_ended:
            return committed
        freed = startable(self._database, [write.turn.conversation_id])
        return replace(committed, wake=tuple(dict.fromkeys((*committed.wake, *freed))))

    def renew(self, claims: Collection[Claim], *, lease: timedelta) -> Sequence[Claim]:
        """
        Extend these claims in one statement and return those their workers still have.

        A claim whose lease is over but which nobody has taken yet is extended like any other.
        """
        key = {
            "turns": sorted({claim.turn_id for claim in claims}),
            "workers": sorted({claim.worker_id for claim in claims}),
            "lease": lease.total_seconds(),
        }
        rows = self._database.write(lambda connection: connection.execute(_RENEW, key).all())
        held = {
            Claim(turn_id=TurnId(row.id), worker_id=row.worker_id, fence=row.fence) for row in rows
        }
        return [claim for claim in claims if claim in held]
