import pytest

from runner.core.messages import Opaque, Part, Text, Thinking, ToolCall, ToolResult
from runner.store.codec import parts_from_json, parts_to_json


@pytest.mark.parametrize(
    "part",
    [
        Text(text="Hi."),
        Text(text="Hi.", extra={"citations": [{"n": 1}]}),
        Thinking(text="", extra={"signature": "s=="}),
        ToolCall(call_id="c", name="n", arguments={"b": 1, "a": [None, True, 0.1]}),
        ToolCall(call_id="c", name="n", arguments={}, extra={"caller": {"type": "direct"}}),
        ToolResult(call_id="c", name="n", content={"x": "y"}),
        ToolResult(call_id="c", name="n", content={}, is_error=True),
        Opaque(block={"type": "redacted_thinking", "data": "d"}),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_part_comes_back_as_it_was_written(part: Part) -> None:
    assert parts_from_json(parts_to_json([part])) == (part,)


def test_parts_keep_their_order_and_their_keys_in_order() -> None:
    written = parts_to_json([Opaque(block={"b": 1, "a": 2}), Text(text="x")])

    assert written == ('[{"type":"opaque","block":{"b":1,"a":2}},{"type":"text","text":"x"}]')


def test_no_parts_are_an_empty_list() -> None:
    assert parts_from_json(parts_to_json([])) == ()
