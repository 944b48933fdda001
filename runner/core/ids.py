"""Identifiers: one distinct type per kind of record, ordered by the time they were made."""

import secrets
import time
from hashlib import sha256
from typing import NewType

ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
ExecutionId = NewType("ExecutionId", str)
DeliveryId = NewType("DeliveryId", str)
InputId = NewType("InputId", str)
ApprovalId = NewType("ApprovalId", str)
WorkerId = NewType("WorkerId", str)


def new_conversation_id() -> ConversationId:
    return ConversationId(f"conv_{_uuid7_hex()}")


def new_turn_id() -> TurnId:
    return TurnId(f"turn_{_uuid7_hex()}")


def new_message_id() -> MessageId:
    return MessageId(f"msg_{_uuid7_hex()}")


def new_execution_id() -> ExecutionId:
    return ExecutionId(f"exec_{_uuid7_hex()}")


def new_delivery_id() -> DeliveryId:
    return DeliveryId(f"dlv_{_uuid7_hex()}")


def new_input_id() -> InputId:
    return InputId(f"input_{_uuid7_hex()}")


def new_approval_id() -> ApprovalId:
    return ApprovalId(f"appr_{_uuid7_hex()}")


def turn_id_of(execution_id: ExecutionId, *, index: int = 0) -> TurnId:
    """
    Name the turn that an execution launches: the same whenever the execution is run again.

    It is a version 8 UUID over the execution's own id, so it keeps its place in time.
    """
    seed = execution_id.removeprefix("exec_")
    digest = sha256(f"{seed}:{index}".encode()).hexdigest()
    return TurnId(f"turn_{seed[:12]}8{digest[:3]}8{digest[3:18]}")


def new_worker_id() -> WorkerId:
    """Identify one boot of one process; never a name that a restarted process could have too."""
    return WorkerId(f"worker_{_uuid7_hex()}")


def _uuid7_hex() -> str:
    """
    Build a version 7 UUID as 32 hex digits.

    Forty-eight bits of Unix milliseconds, then random bits around version and variant (RFC 9562,
    section 5.7). Its time only orders new ids near each other in an index; nothing reads it.
    """
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= 0x7 << 76 | (random >> 62) << 64
    value |= 0b10 << 62 | (random & (1 << 62) - 1)
    return f"{value:032x}"
