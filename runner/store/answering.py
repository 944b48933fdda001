"""How people answer approvals."""

from collections.abc import Mapping
from typing import Final, assert_never

from sqlalchemy import Connection, bindparam, case, exists, select, update

from runner.core.approvals import Answer, Answered, Approval
from runner.core.errors import ApprovalAnswered, NotFound
from runner.core.ids import ApprovalId, TurnId
from runner.core.jsonvalue import JsonObject, dump_json, storable_text
from runner.core.states import TurnStatus
from runner.store.asking import answered_event
from runner.store.clock import db_now
from runner.store.codec import to_json_or_null
from runner.store.conditions import as_status, has_status
from runner.store.database import Database
from runner.store.rows import approval_from
from runner.store.statements import INSERT_EVENTS
from runner.store.tables import ApprovalRow, EventRow, TurnRow

SELECT_APPROVAL: Final = select(ApprovalRow).where(ApprovalRow.id == bindparam("approval"))
_LOCK_TURN: Final = (
    select(TurnRow.id)
    .where(
        TurnRow.id
        == select(ApprovalRow.turn_id)
        .where(ApprovalRow.id == bindparam("approval"))
        .scalar_subquery()
    )
    .with_for_update(key_share=True)
)
_ANSWER: Final = (
    update(ApprovalRow)
    .where(
        ApprovalRow.id == bindparam("approval"),
        ApprovalRow.answered_at.is_(None),
        ApprovalRow.expires_at > db_now(),
    )
    .values(
        answer=bindparam("given", type_=ApprovalRow.answer.type),
        answered_at=db_now(),
        answered_by=bindparam("by"),
        answer_reason=bindparam("why"),
    )
    .returning(ApprovalRow)
)
_FIND_OWN: Final = select(ApprovalRow).where(
    ApprovalRow.id == bindparam("approval"),
    exists().where(EventRow.id == bindparam("event"), EventRow.turn_id == ApprovalRow.turn_id),
)
_WAITS: Final = has_status(TurnRow.status, TurnStatus.WAITING)
#: One answer less is open, and what waits may go on.
COUNT_ANSWERS: Final = (
    update(TurnRow)
    .where(TurnRow.id == bindparam("asker"), TurnRow.ended_at.is_(None))
    .values(
        open_approvals=TurnRow.open_approvals - bindparam("fewer"),
        status=case((_WAITS, as_status(TurnStatus.PENDING)), else_=TurnRow.status),
        due_at=case((_WAITS, db_now()), else_=TurnRow.due_at),
    )
    .returning(TurnRow.status)
)


class SqlApprovals:
    """The answers over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def answer(
        self,
        approval_id: ApprovalId,
        answer: Answer,
        *,
        principal: JsonObject | None,
        reason: str | None,
    ) -> Answered:
        """
        Answer an approval, once; a turn that waits is pending in the same transaction.

        That it is unanswered and in time is part of the condition, so of however many answers one
        changes a row. Answers and steps lock the turn: a step that is to wait either sees that an
        answer has come, or the answer finds the turn waiting.
        """
        answering = _Answering(approval_id, answer, principal=principal, reason=reason)
        answered = self._database.write(answering)
        if answered is None:
            raise _too_late(find_approval(self._database, approval_id))
        return answered


def find_approval(database: Database, approval_id: ApprovalId) -> Approval:
    """
    Return an approval.

    Raises:
        NotFound: There is none.
    """
    rows = database.rows(SELECT_APPROVAL, {"approval": approval_id})
    if not rows:
        raise NotFound(f"there is no approval {approval_id!r}; `runner approvals` lists them")
    return approval_from(rows[0])


class _Answering:
    """
    One answer, which may take several attempts.

    An attempt whose connection was lost at its commit may have given it. The next one then finds
    it given, and knows its own by the event stored with it.
    """

    def __init__(
        self,
        approval_id: ApprovalId,
        answer: Answer,
        *,
        principal: JsonObject | None,
        reason: str | None,
    ) -> None:
        self._key: Mapping[str, object] = {"approval": approval_id}
        self._answer: Mapping[str, object] = {
            "given": answer,
            "by": to_json_or_null(principal),
            "why": None if reason is None else storable_text(reason),
        }
        self._event: int | None = None

    def __call__(self, connection: Connection) -> Answered | None:
        turn_id = connection.execute(_LOCK_TURN, self._key).scalar_one_or_none()
        if turn_id is None:
            return None
        row = connection.execute(_ANSWER, {**self._key, **self._answer}).mappings().one_or_none()
        if row is None:
            return self._own(connection)
        approval = approval_from(row)
        event = connection.execute(INSERT_EVENTS, answered_event(approval)).scalar_one()
        count = {"asker": turn_id, "fewer": 1}
        status = connection.execute(COUNT_ANSWERS, count).scalar_one_or_none()
        self._event = event
        return _answered(approval, status)

    def _own(self, connection: Connection) -> Answered | None:
        if self._event is None:
            return None
        found = connection.execute(_FIND_OWN, {**self._key, "event": self._event})
        row = found.mappings().one_or_none()
        # Whether the turn goes on because of it is not known any more; a wake-up does no harm.
        return None if row is None else _answered(approval_from(row), TurnStatus.PENDING)


def _answered(approval: Approval, status: TurnStatus | None) -> Answered:
    wake = (TurnId(approval.turn_id),) if status is TurnStatus.PENDING else ()
    return Answered(approval=approval, wake=wake)


def _too_late(approval: Approval) -> ApprovalAnswered:
    return ApprovalAnswered(f"approval {approval.id!r} {_became(approval)}")


def _became(approval: Approval) -> str:
    match approval.answer:
        case None | Answer.EXPIRED:
            return "has expired, which denies the call"
        case Answer.WITHDRAWN:
            return "was withdrawn, because its turn has no use for it any more"
        case Answer.APPROVED | Answer.DENIED:
            by = approval.answered_by
            who = "somebody" if by is None else dump_json(by)
            return f"was {approval.answer.value} before, by {who}"
        case _:
            assert_never(approval.answer)
