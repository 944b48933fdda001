import tracemalloc
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from runner.clients.anthropic.answer import Answer
from runner.core.errors import ModelRejected, ModelTransport
from runner.core.messages import Opaque, Text, Thinking, ToolCall
from runner.core.model import (
    Delta,
    ModelResponse,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    Usage,
)

Json = dict[str, Any]
START: Json = {"type": "message_start", "message": {"usage": {"input_tokens": 5}}}
STOP: Json = {"type": "message_stop"}


def block(index: int, opening: Json, *deltas: Json, is_closed: bool = True) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opening},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        *([{"type": "content_block_stop", "index": index}] if is_closed else []),
    ]


def end(reason: str | None = "end_turn", usage: Json | None = None, **delta: Any) -> Json:  # noqa: ANN401 - JSON
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, **delta},
        "usage": {"output_tokens": 9, **(usage or {})},
    }


def said(text: str, index: int = 0) -> list[Json]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def called(partial_json: str, **fields: Any) -> list[Json]:  # noqa: ANN401 - JSON
    opening = {"type": "tool_use", "id": "toolu_1", "name": "save", "input": {}, **fields}
    return block(0, opening, {"type": "input_json_delta", "partial_json": partial_json})


def read(events: Iterable[Json], deltas: list[Delta] | None = None) -> ModelResponse:
    answer = Answer()
    for event in events:
        (deltas if deltas is not None else []).extend(answer.take(event))
    return answer.response(model="claude-sonnet-5-5", request_id="req_1")


def whole(*content: Sequence[Json], reason: str = "end_turn") -> list[Json]:
    return [START, *(event for block in content for event in block), end(reason), STOP]


def test_an_answer_keeps_its_parts_in_order() -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm"},
        {"type": "thinking_delta", "thinking": "."},
        {"type": "signature_delta", "signature": "sig"},
    )
    redacted = block(1, {"type": "redacted_thinking", "data": "xyz"})
    cited = block(
        2,
        {"type": "text", "text": "", "citations": None},
        {"type": "citations_delta", "citation": {"n": 1}},
        {"type": "citations_delta", "citation": {"n": 2}},
        {"type": "text_delta", "text": "I "},
        {"type": "text_delta", "text": "save."},
    )
    use = block(
        3,
        {"type": "tool_use", "id": "t", "name": "save", "input": {}, "caller": {"type": "direct"}},
        {"type": "input_json_delta", "partial_json": '{"a": [1'},
        {"type": "input_json_delta", "partial_json": ', "é"]}'},
    )
    deltas = list[Delta]()

    response = read(whole(thinking, redacted, cited, use, reason="tool_use"), deltas)

    assert response.parts == (
        Thinking(text="Hm.", extra={"signature": "sig"}),
        Opaque(block={"type": "redacted_thinking", "data": "xyz"}),
        Text(text="I save.", extra={"citations": [{"n": 1}, {"n": 2}]}),
        ToolCall(
            call_id="t",
            name="save",
            arguments={"a": [1, "é"]},
            extra={"caller": {"type": "direct"}},
        ),
    )
    assert response.stop_reason is StopReason.TOOL_CALLS
    assert (response.provider, response.model) == ("anthropic", "claude-sonnet-5-5")
    assert response.request_id == "req_1"
    assert deltas == [
        ThinkingDelta(text="Hm"),
        ThinkingDelta(text="."),
        TextDelta(text="I "),
        TextDelta(text="save."),
        ToolCallStarted(name="save"),
    ]


def test_text_that_a_block_begins_with_counts() -> None:
    deltas = list[Delta]()

    response = read(
        whole(block(0, {"type": "text", "text": "A"}, {"type": "text_delta", "text": "B"})), deltas
    )

    assert response.parts == (Text(text="AB"),)
    assert deltas == [TextDelta(text="A"), TextDelta(text="B")]


def test_what_no_database_holds_is_replaced() -> None:
    odd = block(1, {"type": "hologram", "beam": "\ud800"})

    response = read(whole(said("a\x00b\ud800"), odd))

    assert response.parts == (
        Text(text="a\ufffdb\ufffd"),
        Opaque(block={"type": "hologram", "beam": "\ufffd"}),
    )


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("tool_use", StopReason.END),
        ("pause_turn", StopReason.PAUSE),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.CONTEXT_FULL),
        ("refusal", StopReason.REFUSAL),
    ],
)
def test_every_stop_reason_is_an_outcome_of_its_own(reason: str, stop_reason: StopReason) -> None:
    assert read(whole(said("Hi."), reason=reason)).stop_reason is stop_reason


def test_an_unknown_stop_reason_is_not_taken_for_an_end() -> None:
    with pytest.raises(ModelRejected, match="unknown reason: 'compaction'"):
        read(whole(said("Hi."), reason="compaction"))


def test_an_empty_answer_is_whole() -> None:
    response = read(whole())

    assert (response.parts, response.stop_reason) == ((), StopReason.END)


@pytest.mark.parametrize(
    ("details", "explanation"),
    [
        ({"type": "refusal", "category": "bio", "explanation": "No."}, "No."),
        ({"type": "refusal", "category": "bio", "explanation": None}, "bio"),
        (None, None),
    ],
)
def test_a_refusal_keeps_the_providers_words(details: Json | None, explanation: str | None) -> None:
    response = read([START, *said("I can"), end("refusal", stop_details=details), STOP])

    assert response.explanation == explanation


@pytest.mark.parametrize(
    ("partial_json", "arguments"),
    [("", {}), ("null", {}), ('""', {}), ("{}", {}), ('{"a": NaN}', {"a": "nan"})],
)
def test_arguments_may_be_none(partial_json: str, arguments: Json) -> None:
    response = read(whole(called(partial_json), reason="tool_use"))

    assert response.parts == (ToolCall(call_id="toolu_1", name="save", arguments=arguments),)


def test_arguments_that_come_at_once_are_taken() -> None:
    response = read(whole(called("", input={"a": 1}), reason="tool_use"))

    assert response.parts == (ToolCall(call_id="toolu_1", name="save", arguments={"a": 1}),)


@pytest.mark.parametrize("partial_json", ['{"a": "/etc/pas', "[1]", "7", "[" * 100_000])
def test_arguments_that_are_no_object_make_the_answer_unusable(partial_json: str) -> None:
    with pytest.raises(ModelTransport, match="arguments of a tool call are not a JSON object"):
        read(whole(called(partial_json), reason="tool_use"))


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_of_half_a_call_nothing_is_made_up(reason: str) -> None:
    response = read(whole(called('{"a": "/etc/pas'), reason=reason))

    assert response.stop_reason not in {StopReason.TOOL_CALLS, StopReason.END}
    assert response.parts == (ToolCall(call_id="toolu_1", name="save", arguments={}),)


@pytest.mark.parametrize("reason", ["end_turn", "pause_turn"])
def test_tools_are_asked_for_only_by_the_stop_reason_that_says_so(reason: str) -> None:
    with pytest.raises(ModelTransport, match=f"asks for tools but stopped with '{reason}'"):
        read(whole(called("{}"), reason=reason))


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        pytest.param([], "not a stream", id="nothing-at-all"),
        pytest.param([STOP], "not a stream", id="no-beginning"),
        pytest.param([START], "before it was whole", id="only-a-beginning"),
        pytest.param([START, *said("x")], "before it was whole", id="no-stop-reason"),
        pytest.param([START, *said("x"), end()], "before it was whole", id="no-end"),
        pytest.param([START, end(None), STOP], "before it was whole", id="an-end-without-a-reason"),
        pytest.param(
            [START, *block(0, {"type": "text"}, is_closed=False), end(), STOP],
            "block of the answer was not finished",
            id="an-open-block",
        ),
    ],
)
def test_an_answer_that_is_not_whole_is_none(events: list[Json], reason: str) -> None:
    with pytest.raises(ModelTransport, match=reason) as caught:
        read(events)

    assert caught.value.request_id == "req_1"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"type": "content_block_delta", "index": 4, "delta": {}}, "out of order"),
        ({"type": "content_block_stop"}, "out of order"),
        ({"type": "content_block_start", "index": "x", "content_block": {}}, "could not be read"),
        ({"type": "content_block_start", "index": 1, "content_block": 7}, "could not be read"),
        (said("again")[0], "could not be read"),
        (said("again")[1], "out of order"),
    ],
)
def test_events_that_make_no_sense_end_the_answer(event: Json, reason: str) -> None:
    with pytest.raises(ModelTransport, match=reason):
        read([START, *said("x"), event])


def test_events_of_unknown_types_are_passed_over() -> None:
    events: list[Json] = [{"type": "ping"}, {"odd": 1}, *whole(said("Hi.")), {"type": "later"}]

    assert read(events).parts == (Text(text="Hi."),)


def test_blocks_of_unknown_types_are_kept_as_they_came() -> None:
    search = block(
        0,
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "tea"}'},
    )
    found = block(1, {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"u": 1}]})

    assert read(whole(search, found)).parts == (
        Opaque(
            block={
                "type": "server_tool_use",
                "id": "s",
                "name": "web_search",
                "input": {"query": "tea"},
            }
        ),
        Opaque(block={"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"u": 1}]}),
    )


def test_a_block_that_cannot_be_put_together_is_left_out_and_a_known_one_kept() -> None:
    odd = {"type": "odd_delta", "bits": 1}
    unknown = block(0, {"type": "hologram"}, odd)
    known = block(1, {"type": "text", "text": "Hi."}, odd)

    assert read(whole(unknown, known)).parts == (Text(text="Hi."),)


def test_counts_are_totals_that_overwrite_and_stay_where_they_are_missing() -> None:
    counts = {
        "input_tokens": 5,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 11,
        "output_tokens": 1,
    }
    final = {
        "input_tokens": 6,
        "cache_read_input_tokens": None,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 30},
    }

    response = read(
        [{"type": "message_start", "message": {"usage": counts}}, end(usage=final), STOP]
    )

    assert response.usage == Usage(
        input_tokens=6,
        output_tokens=40,
        cache_read_tokens=7,
        cache_write_tokens=11,
        thinking_tokens=30,
    )


def test_counts_that_are_none_count_nothing() -> None:
    response = read([{"type": "message_start"}, {**end(), "usage": {"output_tokens": "x"}}, STOP])

    assert response.usage == Usage()


@pytest.mark.parametrize(
    ("opening", "delta"),
    [
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": "words "}),
        (
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "thinking_delta", "thinking": "words "},
        ),
        (
            {"type": "tool_use", "id": "a", "name": "n", "input": {}},
            {"type": "input_json_delta", "partial_json": "      "},
        ),
    ],
    ids=["text", "thinking", "tool_use"],
)
def test_what_a_piece_takes_does_not_grow_with_the_pieces_before_it(
    opening: Json, delta: Json
) -> None:
    answer = Answer()
    pieces = 20_000
    events = [START, *block(0, opening, *[delta] * pieces, is_closed=False)]

    tracemalloc.start()
    try:
        largest = 0
        for event in events:
            list(answer.take(event))
            current, peak = tracemalloc.get_traced_memory()
            largest = max(largest, peak - current)
            tracemalloc.reset_peak()
    finally:
        tracemalloc.stop()

    # A copy of all that came before would be of about this size.
    assert largest < pieces * 3
