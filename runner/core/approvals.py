"""What people are asked before a call is made, and what they answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from runner.core.authorization import Action
from runner.core.ids import ApprovalId, ExecutionId, TurnId
from runner.core.jsonvalue import JsonObject


class Answer(StrEnum):
    """What became of an approval; it is never changed."""

    APPROVED = "approved"  #: A person agreed to this very call.
    DENIED = "denied"  #: A person did not.
    EXPIRED = "expired"  #: Nobody answered in time, which denies.
    WITHDRAWN = "withdrawn"  #: Nobody needs to answer: the turn ended or was redirected.


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked: by whom, about which call, and because of which rule."""

    #: The agents from the root's to the one that calls.
    agents: Sequence[str]
    tool: str
    #: Exactly what the call will be made with.
    arguments: JsonObject
    action: Action
    policy: str | None = None
    rule: str | None = None
    #: Where the rule stands, as `file:line`.
    source: str | None = None
    layer: str | None = None
    #: Why the policy wants a person asked.
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApproval:
    """A question to be stored, with how long there is to answer it."""

    id: ApprovalId
    execution_id: ExecutionId
    question: Question
    #: From when it is stored, and never past the turn's own end.
    expires: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A stored question and, once there is one, its answer."""

    id: ApprovalId
    turn_id: TurnId
    execution_id: ExecutionId
    question: Question
    asked_at: datetime
    expires_at: datetime
    answer: Answer | None = None
    answered_at: datetime | None = None
    #: Who answered, as the application said; None where no person did, or none was named.
    answered_by: JsonObject | None = None
    answer_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What answering an approval set going."""

    approval: Approval
    #: The turn, if it may go on now.
    wake: Sequence[TurnId] = ()
