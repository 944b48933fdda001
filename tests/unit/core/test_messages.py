import dataclasses

import pytest

from runner.core.ids import ConversationId, MessageId, TurnId
from runner.core.messages import Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult

CALL = ToolCall(call_id="call_1", name="weather", arguments={"city": "Rome"})


def message(*parts: Part) -> Message:
    return Message(
        id=MessageId("msg_1"),
        conversation_id=ConversationId("conv_1"),
        turn_id=TurnId("turn_1"),
        role=Role.ASSISTANT,
        parts=parts,
    )


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        pytest.param((), "", id="nothing"),
        pytest.param((Text(text="one"),), "one", id="one-part"),
        pytest.param((Text(text="one"), CALL, Text(text="two")), "one\n\ntwo", id="several-parts"),
        pytest.param(
            (
                Thinking(text="hidden"),
                Opaque(block={"text": "hidden"}),
                ToolResult(call_id="call_1", name="weather", content={"text": "hidden"}),
            ),
            "",
            id="parts-that-are-no-text",
        ),
    ],
)
def test_a_messages_text_is_its_text_parts(parts: tuple[Part, ...], text: str) -> None:
    assert message(*parts).text == text


def test_a_messages_tool_calls_are_in_order() -> None:
    second = ToolCall(call_id="call_2", name="time", arguments={})

    assert message(CALL, Text(text="and"), second).tool_calls == (CALL, second)


def test_a_message_without_tool_calls_has_none() -> None:
    assert message(Text(text="done")).tool_calls == ()


def test_a_message_is_never_edited() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        message(CALL).role = Role.USER  # type: ignore[misc]  # that it cannot is the point
