from typing import Any

from runner.clients.anthropic.request import build_body
from runner.core.messages import Text, Thinking, ToolCall
from runner.core.model import Effort, ModelRequest, ThinkingSetting, ToolSpec
from tests.fakes.transcript import READ_FILE, Transcript

MARK = {"cache_control": {"type": "ephemeral"}}
CALL = ToolCall(call_id="toolu_1", name="read_file", arguments={})


def body(request: ModelRequest) -> Any:  # noqa: ANN401 - JSON
    return build_body(request)


def marked(value: Any) -> int:  # noqa: ANN401 - JSON
    """Count the marks in a body."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(marked(item) for item in value.values())
    return sum(marked(item) for item in value) if isinstance(value, list) else 0


def test_a_request_is_written_whole() -> None:
    sent = body(Transcript().user("Go.").request(user_id="u-1"))

    assert sent == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 8000,
        "stream": True,
        "metadata": {"user_id": "u-1"},
        "tools": [
            {
                "name": "read_file",
                "description": "Reads a file.",
                "input_schema": READ_FILE.parameters,
            }
        ],
        "system": [{"type": "text", "text": "You are an editor.", **MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Go.", **MARK}]}],
    }


def test_what_is_not_asked_for_is_not_mentioned() -> None:
    sent = body(Transcript(system=" ", tools=()).user("Go.").request())

    assert sent.keys() == {"model", "max_tokens", "stream", "messages"}


def test_without_a_system_prompt_the_tools_are_the_stable_part() -> None:
    sent = body(Transcript(system="").user("Go.").request())

    assert marked(sent["tools"]) == 1


def test_a_tool_without_parameters_takes_an_object_all_the_same() -> None:
    bare = ToolSpec(name="now", description="Tells the time.", parameters={})

    sent = body(Transcript(tools=[bare]).user("Go.").request())

    assert sent["tools"][0]["input_schema"] == {"type": "object"}


def test_at_most_four_blocks_are_marked_however_long_the_conversation() -> None:
    transcript = Transcript()
    for number in range(12):
        transcript.context("Now.").user(f"Go {number}.").assistant(CALL).result(CALL)
        sent = body(transcript.request())
        assert 2 <= marked(sent) <= 4
        assert marked(sent["messages"][-1]["content"][-1:]) == 1
        transcript.assistant(Text(text="Done."))


def test_the_end_that_was_marked_last_time_is_still_marked() -> None:
    transcript = Transcript().user("Go.")
    ends = [body(transcript.request())["messages"][-1]]
    for _ in range(3):
        transcript.assistant(CALL).result(CALL).notice("Note.")
        messages = body(transcript.request())["messages"]
        assert ends[-1] in messages
        ends.append(messages[-1])


def test_an_agent_that_lost_its_tools_still_declares_one_for_its_history() -> None:
    transcript = Transcript(tools=()).user("Go.").assistant(CALL).result(CALL)

    sent = body(transcript.request())

    assert [tool["name"] for tool in sent["tools"]] == ["no_longer_available"]
    assert sent["tool_choice"] == {"type": "none"}


def test_thinking_from_before_that_tool_was_declared_is_left_out() -> None:
    thought = Thinking(text="", extra={"signature": "s"})
    transcript = Transcript(tools=()).user("Go.").assistant(thought, Text(text="One.")).user("Go.")
    transcript.assistant(CALL, provider="other").result(CALL)
    transcript.assistant(thought, Text(text="Two.")).user("Go.")

    sent = body(transcript.request())["messages"]

    assert [block["type"] for block in sent[1]["content"]] == ["text"]
    assert [block["type"] for block in sent[5]["content"]] == ["thinking", "text"]


def test_effort_and_schema_share_their_field() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string", "maxLength": 9}}}
    thinking = ThinkingSetting(effort=Effort.HIGH)

    sent = body(Transcript().user("Go.").request(output_schema=schema, thinking=thinking))

    assert sent["thinking"] == {"type": "adaptive"}
    assert sent["output_config"] == {
        "effort": "high",
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"title": {"type": "string"}},
                "additionalProperties": False,
            },
        },
    }


def test_a_schema_that_cannot_be_said_is_left_to_whoever_checks_the_answer() -> None:
    request = Transcript().user("Go.").request(output_schema={"type": "object"})

    assert "output_config" not in body(request)


def test_an_unknown_model_is_not_asked_for_structured_output() -> None:
    schema = {"type": "object", "properties": {}}
    request = Transcript(model="unheard-of").user("Go.").request(output_schema=schema)

    assert "output_config" not in body(request)


def test_a_budget_is_left_out_where_the_answered_response_has_no_thinking() -> None:
    setting = ThinkingSetting(budget_tokens=2000)
    transcript = Transcript(model="claude-haiku-4-5").user("Go.")
    first = body(transcript.request(thinking=setting))
    transcript.assistant(Thinking(text="", extra={"signature": "s"}), CALL).result(CALL)
    thought = body(transcript.request(thinking=setting))
    stripped = body(transcript.request(thinking=setting, prefix="prefix-2"))
    transcript.assistant(Text(text="Done.")).user("More.")
    afterwards = body(transcript.request(thinking=setting, prefix="prefix-2"))

    assert first["thinking"] == thought["thinking"] == afterwards["thinking"]
    assert first["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert "thinking" not in stripped
