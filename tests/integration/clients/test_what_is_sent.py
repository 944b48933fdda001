import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from runner.core.messages import Opaque, Text, Thinking, ToolCall
from runner.core.model import ThinkingSetting, Usage
from runner.core.ports import ModelClient
from tests.fakes.transcript import Transcript
from tests.integration.clients.claude import KEY, ask, claude, watch
from tests.servers.messages_api import MessagesApi, messages_api
from tests.servers.replies import Reply, redacted_thinking, say, text, thinking, tool_use

TURNS = 10


def unmarked(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def converse(server: MessagesApi, client: ModelClient) -> Transcript:
    """Hold ten turns of a tool call and an answer each."""
    transcript = Transcript()
    for turn in range(TURNS):
        transcript.context(f"It is {turn} o'clock.").user(f"Question {turn}?")
        response = ask(client, transcript.request())
        transcript.response(response)
        calls = [part for part in response.parts if isinstance(part, ToolCall)]
        for call in reversed(calls):
            transcript.result(call, {"content": f"note {turn}"})
        transcript.response(ask(client, transcript.request()))
    return transcript


def ten_turns() -> list[Reply]:
    asks = Reply(
        content=[thinking(), text(""), *(tool_use("read_file", {"n": n}) for n in range(12))],
        stop_reason="tool_use",
    )
    answers = Reply(content=[redacted_thinking(), text("An answer.")])
    return [asks, answers] * TURNS


def test_ten_turns_share_their_beginning_and_are_read_from_the_cache() -> None:
    with messages_api(ten_turns()) as server:
        client = claude(server)
        transcript = converse(server, client)
        bodies = [request.body for request in server.requests]

    beginnings = [json.dumps(unmarked(body)["messages"])[:-1] for body in bodies]
    assert all(b.startswith(a) for a, b in pairwise(beginnings))
    frames = {json.dumps([body["system"], body["tools"]]) for body in bodies}
    assert len(frames) == 1
    assert all(request.raw.count(b'"cache_control"') <= 4 for request in server.requests)
    assert server.refused == []
    assert len(transcript.messages) == TURNS * 16


def test_every_request_but_the_first_finds_the_one_before_it_in_the_cache() -> None:
    with messages_api(ten_turns()) as server:
        client, transcript, usages = claude(server), Transcript(), list[Usage]()
        for turn in range(TURNS):
            transcript.context(f"It is {turn}.").user("Go.")
            for _ in range(2):
                response = ask(client, transcript.request())
                usages.append(response.usage)
                transcript.response(response)
                for part in response.parts:
                    if isinstance(part, ToolCall):
                        transcript.result(part)

    written = [usage.cache_read_tokens + usage.cache_write_tokens for usage in usages]
    read = [usage.cache_read_tokens for usage in usages]
    assert read[0] == 0
    assert read[1:] == written[:-1]
    assert all(usage.input_tokens == 0 for usage in usages)


def test_an_answer_comes_back_as_it_was_streamed() -> None:
    blocks = [
        thinking("Let me see."),
        redacted_thinking(),
        text("I read “both”."),
        tool_use("read_file", {"path": "ä.md"}),
        tool_use("read_file"),
    ]
    usage = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 8}
    reply = Reply(
        content=blocks,
        stop_reason="tool_use",
        usage=usage,
        final_usage={"output_tokens": 44, "output_tokens_details": {"thinking_tokens": 21}},
        with_noise=True,
    )
    with messages_api([reply, say("Done.")]) as server:
        client, transcript = claude(server), Transcript().user("Go.")
        response, seen = watch(client, transcript.request())
        transcript.response(response)
        for part in response.parts:
            if isinstance(part, ToolCall):
                transcript.result(part)
        ask(client, transcript.request())

        assert server.refused == []
        replayed = server.requests[1].body["messages"][1]["content"]

    kinds = [type(part) for part in response.parts]
    assert kinds == [Thinking, Opaque, Text, ToolCall, ToolCall]
    assert [block["type"] for block in replayed] == [block["type"] for block in blocks]
    assert replayed[3]["input"] == {"path": "ä.md"}
    assert response.usage == Usage(
        input_tokens=3, output_tokens=44, cache_read_tokens=8, thinking_tokens=21
    )
    assert response.request_id == "req_000001"
    assert len(seen) > 5


def test_what_is_rendered_is_what_is_sent() -> None:
    transcript = Transcript().context("Today.").user("Go.")
    request = transcript.request(thinking=ThinkingSetting(), user_id="u")
    with messages_api([say("Hi.")]) as server:
        client = claude(server)
        rendered = client.render(request)
        ask(client, request)

        sent = server.requests[0].raw

    dumped = json.dumps(rendered.body, separators=(",", ":"), ensure_ascii=False)
    assert dumped.encode() == sent
    assert rendered.provider == "anthropic"
    assert b"temperature" not in sent


def test_the_key_goes_into_one_header_and_nowhere_else() -> None:
    with messages_api([say("Hi.")]) as server:
        ask(claude(server), Transcript().user("Go.").request())
        (received,) = server.requests

    assert [name for name, value in received.headers.items() if KEY in value] == ["authorization"]
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["anthropic-version"] == "2026-10-21"
    assert KEY.encode() not in received.raw


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-environment",
        "ANTHROPIC_AUTH_TOKEN": "token-environment",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_PROFILE": "nobody",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Environment: yes\nAuthorization: Bearer sk-header\n"
        "anthropic-version: 2023-06-01",
    }.items():
        monkeypatch.setenv(name, value)

    with messages_api([say("Hi.")]) as server:
        ask(claude(server), Transcript().user("Go.").request())
        (received,) = server.requests

    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["anthropic-version"] == "2026-10-21"
    assert "environment" not in json.dumps(dict(received.headers))


def test_one_client_serves_many_threads_at_once() -> None:
    def echo(body: Any) -> Reply:  # noqa: ANN401 - JSON
        return say(body["messages"][0]["content"][0]["text"])

    with messages_api(echo) as server:
        client = claude(server)

        def call(number: int) -> bool:
            response = ask(client, Transcript().user(f"I am {number}.").request())
            return response.parts == (Text(text=f"I am {number}."),)

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(call, range(64)))
        assert len(server.requests) == 64
