"""Identifiers: one distinct type per kind of record, ordered by the time they were made."""

import secrets
import time
from typing import NewType

ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
ExecutionId = NewType("ExecutionId", str)
WorkerId = NewType("WorkerId", str)


def new_conversation_id() -> ConversationId:
    return ConversationId(f"conv_{_uuid7_hex()}")


def new_turn_id() -> TurnId:
    return TurnId(f"turn_{_uuid7_hex()}")


def new_message_id() -> MessageId:
    return MessageId(f"msg_{_uuid7_hex()}")


def new_execution_id() -> ExecutionId:
    return ExecutionId(f"exec_{_uuid7_hex()}")


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
