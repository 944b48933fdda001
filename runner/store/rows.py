"""Rows as records."""

import json
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import RowMapping

from runner.core.approvals import Approval, Question
from runner.core.authorization import AgentRef
from runner.core.contributing import Subject
from runner.core.coordination import Delivery, Input, Outcome
from runner.core.cost import Cost
from runner.core.ids import (
    ApprovalId,
    ConversationId,
    DeliveryId,
    ExecutionId,
    InputId,
    MessageId,
    TurnId,
    WorkerId,
)
from runner.core.messages import (
    Message,
    Origin,
)
from runner.core.model import Usage
from runner.core.records import (
    Conversation,
    Event,
    Shared,
    ToolExecution,
    Turn,
    TurnError,
)
from runner.core.tree import Place, TreeLimits, TreeUse
from runner.store.codec import from_json, object_from_json, parts_from_json

T = TypeVar("T")


def conversation_from(row: RowMapping) -> Conversation:
    context = row["context"]
    return Conversation(
        id=ConversationId(row["id"]),
        agent=row["agent"],
        shared=Shared(
            context={} if context is None else object_from_json(context),
            subject=_subject_from(row["subject"]),
        ),
        created_at=row["created_at"],
    )


def turn_from(row: RowMapping) -> Turn:
    # A row is not written again for the sake of what its end has made meaningless.
    has_ended = row["status"].is_ended
    return Turn(
        id=TurnId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        agent=row["agent"],
        definition_hash=row["definition_hash"],
        kind=row["kind"],
        status=row["status"],
        phase=row["phase"],
        place=_place_from(row),
        use=_use_from(row),
        lane=row["lane"],
        fence=row["fence"],
        step=row["step"],
        claims=row["claims"],
        iterations=row["iterations"],
        tool_executions=row["tool_executions"],
        awaits=_turn_ids_from(row["awaits"]),
        open_waits=0 if has_ended else row["open_waits"],
        waiters=0 if has_ended else row["waiters"],
        open_inputs=row["open_inputs"],
        open_approvals=0 if has_ended else row["open_approvals"],
        pause_requested=row["pause_requested"],
        cancel_requested=row["cancel_requested"],
        is_inline=row["is_inline"],
        callback_to=_optional(ConversationId, row["callback_to"]),
        attempts=row["attempts"],
        usage=Usage(**json.loads(row["usage"])),
        cost=Cost(usd=row["cost"], unpriced_requests=row["unpriced_requests"]),
        principal=_optional(object_from_json, row["principal"]),
        context=object_from_json(row["context"]),
        subject=_subject_from(row["subject"]),
        metadata=object_from_json(row["metadata"]),
        result=row["result"],
        output_data=from_json(row["output_data"]),
        error=_error_from(row["error"]),
        worker_id=_optional(WorkerId, row["worker_id"]),
        lease_expires_at=row["lease_expires_at"],
        not_before=row["not_before"],
        deadline_at=row["deadline_at"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def _subject_from(text: str | None) -> Subject | None:
    return None if text is None else Subject(**json.loads(text))


def _error_from(text: str | None) -> TurnError | None:
    return None if text is None else TurnError(**json.loads(text))


def _place_from(row: RowMapping) -> Place:
    parent = row["parent_id"]
    launched_by = row["launched_by"]
    return Place(
        root_id=TurnId(row["root_id"]),
        parent_id=None if parent is None else TurnId(parent),
        launched_by=None if launched_by is None else ExecutionId(launched_by),
        depth=row["depth"],
        hops=row["hops"],
        limits=TreeLimits(**json.loads(row["tree_limits"])),
        ancestors=tuple(AgentRef(**each) for each in json.loads(row["ancestors"])),
    )


def _use_from(row: RowMapping) -> TreeUse:
    return TreeUse(
        iterations=row["use_iterations"],
        tool_executions=row["use_tool_executions"],
        children=row["use_children"],
    )


def outcome_from(row: RowMapping) -> Outcome:
    return Outcome(
        turn_id=TurnId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        agent=row["agent"],
        status=row["status"],
        result=row["result"],
        output_data=from_json(row["output_data"]),
        error=_error_from(row["error"]),
    )


def input_from(row: RowMapping) -> Input:
    message_id = row["message_id"]
    return Input(
        id=InputId(row["id"]),
        key=row["key"],
        turn_id=TurnId(row["turn_id"]),
        position=row["position"],
        text=row["text"],
        message_id=None if message_id is None else MessageId(message_id),
    )


def delivery_from(row: RowMapping) -> Delivery:
    source = row["source"]
    return Delivery(
        id=DeliveryId(row["id"]),
        key=row["key"],
        source=None if source is None else ConversationId(source),
        destination=ConversationId(row["destination"]),
        text=row["text"],
        message_id=MessageId(row["message_id"]),
        turn_id=TurnId(row["turn_id"]),
        created_at=row["created_at"],
    )


def message_from(row: RowMapping) -> Message:
    execution = row["execution_id"]
    origin = row["origin"]
    return Message(
        id=MessageId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        turn_id=TurnId(row["turn_id"]),
        role=row["role"],
        parts=parts_from_json(row["parts"]),
        seq=row["seq"],
        execution_id=None if execution is None else ExecutionId(execution),
        origin=None if origin is None else Origin(**json.loads(origin)),
        created_at=row["created_at"],
    )


def execution_from(row: RowMapping) -> ToolExecution:
    return ToolExecution(
        id=ExecutionId(row["id"]),
        turn_id=TurnId(row["turn_id"]),
        call_id=row["call_id"],
        tool=row["tool"],
        position=row["position"],
        arguments=object_from_json(row["arguments"]),
        status=row["status"],
        fence=row["fence"],
        awaits=_turn_ids_from(row["awaits"]),
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def approval_from(row: RowMapping) -> Approval:
    return Approval(
        id=ApprovalId(row["id"]),
        turn_id=TurnId(row["turn_id"]),
        execution_id=ExecutionId(row["execution_id"]),
        question=Question(
            agents=tuple(json.loads(row["agents"])),
            tool=row["tool"],
            arguments=object_from_json(row["arguments"]),
            action=row["action"],
            policy=row["policy"],
            rule=row["rule"],
            source=row["source"],
            layer=row["layer"],
            reason=row["reason"],
        ),
        asked_at=row["asked_at"],
        expires_at=row["expires_at"],
        answer=row["answer"],
        answered_at=row["answered_at"],
        answered_by=_optional(object_from_json, row["answered_by"]),
        answer_reason=row["answer_reason"],
    )


def event_from(row: RowMapping) -> Event:
    return Event(
        id=row["id"],
        turn_id=TurnId(row["turn_id"]),
        kind=row["kind"],
        body=object_from_json(row["body"]),
        at=row["at"],
    )


def _turn_ids_from(text: str | None) -> tuple[TurnId, ...]:
    return tuple(TurnId(turn_id) for turn_id in json.loads(text or "[]"))


def _optional(kind: Callable[[str], T], text: str | None) -> T | None:
    return None if text is None else kind(text)
