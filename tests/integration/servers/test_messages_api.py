"""The server is strict: what it lets pass, the tests of the client prove nothing of."""

import json
import subprocess
import sys
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.servers.messages_api import MessagesApi, messages_api
from tests.servers.replies import Reply, call, redacted_thinking, say, text, thinking, tool_use

Json = Any
MODEL = "claude-sonnet-5-5"
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
HI = {"type": "text", "text": "Hi."}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "bm8="}
MARKED = {**HI, "cache_control": {"type": "ephemeral"}}
TOOL = {"name": "save", "description": "Saves.", "input_schema": {"type": "object"}}


def use(call_id: str = "t1", **fields: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "save", "input": {}, **fields}


def result(call_id: str = "t1", **fields: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": [HI], **fields}


def body(*contents: Json, **fields: Json) -> Json:
    roles = ["user", "assistant"]
    messages = [{"role": roles[n % 2], "content": content} for n, content in enumerate(contents)]
    return {
        "model": MODEL,
        "max_tokens": 100,
        "stream": True,
        "tools": [TOOL],
        "messages": messages,
        **fields,
    }


def post(
    server: MessagesApi, sent: Json, *, path: str = "/v1/messages", headers: Json = HEADERS
) -> tuple[int, str]:
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    connection.request("POST", path, body=content, headers=headers)
    response = connection.getresponse()
    try:
        return response.status, response.read().decode()
    finally:
        connection.close()


def events(stream: str) -> Sequence[Json]:
    lines = [line for line in stream.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def blocks(stream: str) -> list[Json]:
    """Put together the blocks of a stream of signatures, texts and calls without arguments."""
    found = [e["content_block"] for e in events(stream) if e["type"] == "content_block_start"]
    for event in events(stream):
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            key = delta["type"].removesuffix("_delta")
            found[event["index"]][key] += delta[key]
    return found


@pytest.mark.parametrize(
    "accepted",
    [
        body([HI]),
        body("Hi."),
        body([HI], [use(), use("t2")], [result(), result("t2"), HI]),
        body([MARKED] * 4, [HI], [HI]),
        body([HI], thinking={"type": "adaptive"}, output_config={"effort": "high"}),
    ],
)
def test_a_proper_request_is_answered(accepted: Json) -> None:
    with messages_api([say("Hello.")]) as server:
        status, stream = post(server, accepted)

    assert (status, server.refused) == (200, [])
    assert blocks(stream) == [{"type": "text", "text": "Hello."}]


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (body([HI], temperature=1.0), "temperature: Extra inputs are not permitted"),
        (body([HI], max_tokens=0), "max_tokens: 0 is out of range"),
        ({**body([HI]), "stream": False}, "this server only streams"),
        ({"model": MODEL, "stream": True}, "Field required"),
        (body([HI], metadata={"user_id": "u" * 300}), "at most 256 characters"),
        (body(), "at least one message is required"),
        (body([]), "user messages must have non-empty content"),
        (body(messages=[{"role": "assistant", "content": [HI]}]), 'must use the "user" role'),
        (body(messages=[{"role": "tool", "content": [HI]}]), 'Unexpected role "tool"'),
        (body(messages=[{"role": "user", "content": [HI], "name": "x"}]), "messages.0.name: Extra"),
        (body([HI], [HI]), "does not support assistant message prefill"),
        (body([{"type": "text", "text": ""}]), "text content blocks must be non-empty"),
        (body([{"type": "text", "text": " "}]), "must contain non-whitespace text"),
        (body([{"type": "text"}]), "text.text: Field required"),
        (body([{**HI, "index": 0}]), "text.index: Extra inputs are not permitted"),
        (body([{**HI, "citations": None}]), "Input should not be null"),
        (body([use()]), "Input tag 'tool_use' found"),
        (body([HI], [result()], [HI]), "Input tag 'tool_result' found"),
        (body([HI], [use(input="")], [result()]), "Input should be a valid dictionary"),
        (body([HI], [use("a b")], [result("a b")]), "should match pattern"),
        (body([HI], [use(name="a.b")], [result()]), "should match pattern"),
        (body([HI], [use()], [HI]), "`tool_use` ids were found without `tool_result`"),
        (body([HI], [use()]), "does not support assistant message prefill"),
        (body([HI, result()]), "unexpected `tool_use_id` found"),
        (body([HI], [use()], [result(), result()]), "must have a single result"),
        (body([HI], [use()], [HI, result()]), "at the beginning of this message"),
        (
            body([HI], [use(), use("t2")], [result("t2"), result()]),
            "not in the order of the calls",
        ),
        (body([HI], [use()], [result()], [use()], [result()]), "ids must be unique"),
        (
            body([HI], [use()], [result(is_error=True, content=[{"type": "image"}])]),
            "must be type `text` if `is_error` is true",
        ),
        (
            body(
                messages=[
                    {"role": "user", "content": [HI]},
                    {"role": "assistant", "content": [use(), use("t2")]},
                    {"role": "user", "content": [result()]},
                    {"role": "user", "content": [result("t2")]},
                ]
            ),
            "stand in several messages",
        ),
        (body([HI], [use()], [result()], tools=[]), "must define tools"),
        (body([HI], tools=[TOOL, TOOL]), "Tool names must be unique"),
        (body([HI], tools=[{**TOOL, "name": "a.b"}]), "custom.name: String should match"),
        (body([HI], tools=[{**TOOL, "x": 1}]), "custom.x: Extra inputs are not permitted"),
        (body([HI], tools=[{**TOOL, "input_schema": {}}]), "input_schema.type: Field required"),
        (
            body([HI], tools=[{**TOOL, "input_schema": {"type": "object", "anyOf": []}}]),
            "does not support oneOf, allOf, or anyOf at the top level",
        ),
        (
            body(
                [HI],
                tools=[{**TOOL, "input_schema": {"type": "object", "properties": {"a b": {}}}}],
            ),
            "Property keys should match pattern",
        ),
        (body([HI], tools=[], tool_choice={"type": "none"}), "tool_choice may only"),
        (body([MARKED] * 5), "Found 5."),
        (body([HI], [use()], [result(content=[MARKED] * 5)]), "Found 5."),
        (
            body([MARKED, {**HI, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]),
            "must not come after",
        ),
        (body([HI], [{**THOUGHT, **MARKED}, HI], [HI]), "Extra inputs are not permitted"),
        (body([HI], [THOUGHT, HI], [HI]), "Invalid `signature` in `thinking` block"),
        (body([HI], [HI, {**THOUGHT, "signature": ""}], [HI]), "Invalid `signature`"),
        (
            body([HI], thinking={"type": "enabled", "budget_tokens": 50}),
            '"thinking.type.enabled" is not supported',
        ),
        (body([HI], thinking={"type": "disabled"}), '"thinking.type.disabled" is not supported'),
        (
            body([HI], thinking={"type": "between_tools"}, model="claude-opus-5"),
            '"thinking.type.between_tools" is not supported',
        ),
        (
            body(
                [HI],
                thinking={"type": "disabled"},
                output_config={"effort": "max"},
                model="claude-opus-5",
            ),
            "not supported at this effort",
        ),
        (
            body([HI], thinking={"type": "adaptive"}, model="claude-haiku-4-5"),
            "adaptive thinking is not supported",
        ),
        (
            body([HI], output_config={"effort": "low"}, model="claude-haiku-4-5"),
            "output_config.effort",
        ),
        (
            body([HI], thinking={"type": "enabled", "budget_tokens": 50}, model="claude-haiku-4-5"),
            "greater than or equal to 1024",
        ),
        (
            body(
                [HI],
                thinking={"type": "enabled", "budget_tokens": 2000},
                model="claude-haiku-4-5",
            ),
            "`max_tokens` must be greater",
        ),
        (
            body(
                [HI],
                [use()],
                [result()],
                thinking={"type": "enabled", "budget_tokens": 2000},
                max_tokens=3000,
                model="claude-haiku-4-5",
            ),
            "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        ),
        (
            body([HI], output_config={"format": {"type": "json", "schema": {}}}),
            "Input should be 'json_schema'",
        ),
        (
            body(
                [HI],
                output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}},
            ),
            "'additionalProperties' must be set to false",
        ),
        (
            body(
                [HI],
                output_config={
                    "format": {
                        "type": "json_schema",
                        "schema": {"items": {"anyOf": [{"minimum": 1}]}},
                    }
                },
            ),
            "'minimum' is not supported",
        ),
        (
            body(
                [HI],
                output_config={
                    "format": {"type": "json_schema", "schema": {"$defs": {"a": {"minItems": 2}}}}
                },
            ),
            "'minItems' may only be 0 or 1",
        ),
        (b'{"a": ', "The request body is not valid JSON"),
    ],
)
def test_a_broken_rule_is_refused(refused: Json, message: str) -> None:
    with messages_api([say("Hello.")]) as server:
        status, answer = post(server, refused)

        assert status == 400
        assert json.loads(answer)["error"]["type"] == "invalid_request_error"
        assert message in json.loads(answer)["error"]["message"]
        assert len(server.refused) == 1


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/complete", HEADERS, 404),
        ("/v1/messages", {"anthropic-version": "2026-10-21"}, 401),
        ("/v1/messages", {"x-api-key": "k"}, 400),
    ],
)
def test_a_request_to_elsewhere_or_without_its_headers_is_refused(
    path: str, headers: Json, status: int
) -> None:
    with messages_api([say("Hello.")]) as server:
        assert post(server, body([HI]), path=path, headers=headers)[0] == status


def test_thinking_is_bound_to_all_that_came_before_it() -> None:
    replies = [Reply(content=[thinking(), redacted_thinking(), text("Yes.")]), *[say("Ok.")] * 2]
    with messages_api(replies) as server:
        answered = blocks(post(server, body([HI], system=[HI]))[1])
        same = post(server, body([MARKED], answered, [HI], system=[MARKED]))
        other_model = post(server, body([HI], answered, [HI], model="claude-opus-5-5"))
        changed = [
            body([HI], answered, [HI]),
            body([HI, HI], answered, [HI], system=[HI]),
            body([HI], answered, [HI], system=[HI], tools=[]),
            body([HI], answered[1:], [HI], system=[HI]),
            body([HI], [{**answered[0], "thinking": "No."}, HI], [HI], system=[HI]),
        ]
        statuses = [post(server, sent)[0] for sent in changed]

    assert (same[0], other_model[0]) == (200, 200)
    assert statuses == [400] * len(changed)


def test_the_thinking_of_a_response_that_is_being_answered_must_come_back() -> None:
    reply = Reply(content=[thinking(), tool_use("save")], stop_reason="tool_use")
    with messages_api([reply]) as server:
        _, asked = blocks(post(server, body([HI]))[1])
        status, answer = post(server, body([HI], [asked], [result(asked["id"])]))

    assert status == 400
    assert "in the latest assistant message cannot be modified" in answer


def test_thinking_may_not_be_the_last_block_of_a_response() -> None:
    with messages_api([Reply(content=[text("Well."), thinking()])]) as server:
        answered = blocks(post(server, body([HI]))[1])
        _, answer = post(server, body([HI], answered, [HI]))

    assert "The final block in an assistant message cannot be `thinking`" in answer


def test_a_script_that_is_used_up_says_so() -> None:
    with messages_api([]) as server:
        assert "no more answers" in post(server, body([HI]))[1]


def test_tests_can_wait_for_requests() -> None:
    with messages_api([call("save")]) as server:
        post(server, body([HI]))
        server.wait_for_requests(1)

        assert server.requests[0].body["model"] == MODEL


def test_the_server_runs_as_a_program_from_a_script_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    answers = [
        {"status": 529, "type": "overloaded_error"},
        {"body": "<html>", "content_type": "text/html"},
        {"content": [{"type": "text", "text": "Half."}], "end_early": {"after": 2}},
        {"content": [{"type": "text", "text": "Whole."}]},
    ]
    script.write_text(json.dumps(answers))
    program = [sys.executable, "-m", "tests.servers.messages_api", "--script", str(script)]

    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = MessagesApi([], url=process.stdout.readline().strip())
        got = [post(server, body([HI])) for _ in range(5)]
        process.terminate()

    assert [status for status, _ in got] == [529, 200, 200, 200, 200]
    assert got[1][1] == "<html>"
    assert len(events(got[2][1])) == 2
    assert "Whole" in got[3][1]
    assert [e["type"] for e in events(got[3][1])] == [e["type"] for e in events(got[4][1])]
