"""Whole conversations through the real SDK, none of whose requests a strict server refuses."""

from collections.abc import Callable
from random import Random

import pytest

from runner.core.errors import ModelTransport, ModelUnavailable
from runner.core.messages import Text, Thinking, ToolCall
from runner.core.model import Effort, ModelResponse, StopReason, ThinkingSetting
from tests.fakes.transcript import READ_FILE, Transcript
from tests.integration.clients.claude import ask, claude
from tests.servers.messages_api import messages_api
from tests.servers.replies import (
    Answer,
    BreakOff,
    Cut,
    EndEarly,
    Raw,
    Refusal,
    Reply,
    redacted_thinking,
    text,
    thinking,
    tool_use,
)

CONVERSATIONS = 40
STEPS = 15
MODELS = (
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "claude-opus-5",
    "claude-haiku-5-5",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
)
SETTINGS = (
    None,
    ThinkingSetting(),
    ThinkingSetting(off=True),
    ThinkingSetting(effort=Effort.HIGH),
    ThinkingSetting(budget_tokens=2000),
)
SCHEMAS = (
    None,
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
    {"type": "object", "additionalProperties": {"type": "string"}},
)
FAULTS = (Cut(0), Cut(3), EndEarly(0), EndEarly(4), BreakOff(0), BreakOff(6))


def content(chance: Random) -> list[dict[str, object]]:
    """Blocks as a model may send them: thought before, and now and then an empty text."""
    return [
        *([thinking(chance.choice(["", "Let me see."]))] if chance.random() < 0.6 else []),
        *([redacted_thinking()] if chance.random() < 0.2 else []),
        *([text(chance.choice(["", " \n", "I look."]))] if chance.random() < 0.6 else []),
    ]


def tool_calls(chance: Random) -> Reply:
    calls = [tool_use("read_file", {"path": f"{n}.md"} if n else None) for n in range(4)]
    return Reply(
        content=[*content(chance), *calls[: chance.randint(1, 4)]],
        stop_reason="tool_use",
        with_noise=chance.random() < 0.3,
    )


def said(chance: Random) -> Reply:
    return Reply(content=[*content(chance), text("Done.")], with_noise=chance.random() < 0.3)


def nothing_said(chance: Random) -> Reply:
    return Reply(content=content(chance)[:1])


def paused(chance: Random) -> Reply:
    search = {"type": "server_tool_use", "name": "web_search", "input": {"query": "tea"}}
    return Reply(content=[*content(chance), search], stop_reason="pause_turn")


def cut_off(chance: Random) -> Reply:
    reason = chance.choice(["max_tokens", "model_context_window_exceeded", "refusal"])
    half = tool_use("read_file", json='{"path": "/etc/pas')
    return Reply(content=[*content(chance), half], stop_reason=reason)


def failed(chance: Random) -> Answer:
    failures: list[Answer] = [
        Refusal(status=429, type="rate_limit_error", headers={"retry-after": "0.1"}),
        Refusal(status=500, type="api_error"),
        Refusal(status=529, type="overloaded_error"),
        Raw(body=b"<html>Bad gateway</html>", status=502, content_type="text/html"),
        Raw(body=b'{"type": "message", "content": []}'),
        *(Reply(content=[*content(chance), text("Never.")], fault=fault) for fault in FAULTS),
    ]
    return chance.choice(failures)


KINDS: tuple[Callable[[Random], Answer], ...] = (
    tool_calls, tool_calls, said, said, nothing_said, paused, cut_off, failed,
)  # fmt: skip


def carry_on(transcript: Transcript, response: ModelResponse, chance: Random) -> None:
    """Do with a response what an engine does with it."""
    if response.stop_reason in {
        StopReason.MAX_TOKENS,
        StopReason.CONTEXT_FULL,
        StopReason.REFUSAL,
    }:
        transcript.notice("The answer was cut; begin anew.")
        return
    transcript.response(response)
    calls = [part for part in response.parts if isinstance(part, ToolCall)]
    for call in chance.sample(calls, len(calls)):
        is_error = chance.random() < 0.3
        transcript.result(call, chance.choice([{}, {"content": ""}]), is_error=is_error)
        if chance.random() < 0.2:
            transcript.notice("A note of the tool.")
    if response.stop_reason is StopReason.END:
        transcript.context(f"Now it is {chance.random()}.").user(chance.choice(["And?", "", "Go."]))


def change_something(transcript: Transcript, chance: Random) -> None:
    """Now and then another model answers, the system prompt changes, or other clients did."""
    match chance.randrange(8):
        case 0:
            transcript.model = chance.choice(MODELS)
        case 1:
            transcript.system = f"You are editor {chance.random()}."
        case 2:
            transcript.tools = () if transcript.tools else (READ_FILE,)
        case 3:
            call = ToolCall(call_id="call:0", name="files.read", arguments={})
            hidden = Thinking(text="Hm.", extra={"id": "x"})
            transcript.assistant(hidden, call, provider="other").result(call).user("Go on.")
        case 4:
            transcript.assistant(Text(text=""), provider="other").notice("Say something.")
        case _:
            pass
    transcript.prefix = f"{transcript.system} {len(transcript.tools)}"


@pytest.mark.parametrize("seed", range(CONVERSATIONS))
def test_no_request_of_a_long_conversation_breaks_a_rule(seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - conversations that can be had again
    transcript = Transcript(model=chance.choice(MODELS)).context("Today.").user("Go.")
    transcript.prefix = f"{transcript.system} {len(transcript.tools)}"
    script = [chance.choice(KINDS)(chance) for _ in range(STEPS)]

    with messages_api(script) as server:
        client = claude(server)
        while len(server.requests) < STEPS:
            request = transcript.request(
                thinking=chance.choice(SETTINGS), output_schema=chance.choice(SCHEMAS)
            )
            try:
                response = ask(client, request)
            except (ModelUnavailable, ModelTransport):
                continue
            is_paused = response.stop_reason is StopReason.PAUSE
            carry_on(transcript, response, chance)
            if not is_paused:
                change_something(transcript, chance)

        assert [request.fault for request in server.refused] == []
        assert len(server.requests) == STEPS
