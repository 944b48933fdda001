from dataclasses import replace

import pytest

from runner.cli.shapes import message_json, total_json, turn_json
from runner.core.cost import Cost
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from runner.core.records import TurnError
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import message, turn

UNPRICED = Cost(unpriced_requests=1)


@pytest.mark.parametrize(
    ("part", "shape"),
    [
        (Text(text="hi"), {"type": "text", "text": "hi"}),
        (Thinking(text="hm"), {"type": "thinking", "text": "hm"}),
        (
            ToolCall(call_id="c", name="n", arguments={"a": 1}),
            {"type": "tool_call", "call_id": "c", "name": "n", "arguments": {"a": 1}},
        ),
        (
            ToolResult(call_id="c", name="n", content={"a": 1}),
            {
                "type": "tool_result",
                "call_id": "c",
                "name": "n",
                "content": {"a": 1},
                "is_error": False,
            },
        ),
        (Opaque(block={"x": 1}), {"type": "provider", "block": {"x": 1}}),
    ],
)
def test_a_part_says_its_type(part: Part, shape: JsonObject) -> None:
    assert message_json(message("msg_1", [part], role=Role.USER))["parts"] == [shape]


def test_a_failed_turn_has_its_error_in_parts() -> None:
    error = TurnError(code="limit", message="over", details={"path": "limits.timeout"})

    assert turn_json(turn(TurnStatus.FAILED, error=error))["error"] == {
        "code": "limit",
        "message": "over",
        "details": {"path": "limits.timeout"},
    }


def test_what_a_tree_took_is_summed_up() -> None:
    tree = [turn(TurnStatus.RUNNING), replace(turn(TurnStatus.FAILED), cost=UNPRICED)]

    assert total_json(tree) == {
        "turns": 2,
        "iterations": 4,
        "tool_executions": 2,
        "usage": {
            "input_tokens": 1800,
            "output_tokens": 90,
            "cache_read_tokens": 600,
            "cache_write_tokens": 0,
            "thinking_tokens": 0,
        },
        "cost": "0.0312",
        "unpriced_requests": 1,
    }


def test_what_has_no_price_costs_null() -> None:
    document = turn_json(replace(turn(TurnStatus.COMPLETED), cost=UNPRICED))

    assert (document["cost"], document["unpriced_requests"]) == (None, 1)


def test_a_turn_has_every_key_whatever_its_status() -> None:
    completed = turn_json(turn(TurnStatus.COMPLETED, result="done"))

    assert completed.keys() == turn_json(turn(TurnStatus.PREPARED)).keys()
    assert completed["ended_at"] == "2026-01-02T12:00:02+00:00"
