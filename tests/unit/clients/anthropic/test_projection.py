from typing import Any

import pytest

from runner.clients.anthropic.projection import PROVIDER, WireMessage, project
from runner.core.messages import Opaque, Role, Text, Thinking, ToolCall
from tests.fakes.transcript import MODEL, Transcript

SIGNED = {"signature": "sig"}
HIDDEN = Opaque(block={"type": "redacted_thinking", "data": "xyz"})


def call(number: int, **fields: Any) -> ToolCall:  # noqa: ANN401 - fields of a tool call
    return ToolCall(
        **{"call_id": f"toolu_{number}", "name": "read_file", "arguments": {}, **fields}
    )


def projected(transcript: Transcript, **changes: Any) -> list[tuple[str, list[Any]]]:  # noqa: ANN401 - JSON
    settings = {"model": MODEL, "prefix": "prefix-1", **changes}
    return [(m.role, list(m.content)) for m in project(transcript.messages, **settings)]


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def result(number: int, content: str = "{}") -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": f"toolu_{number}",
        "content": [text(content)],
    }


def test_what_stands_between_two_responses_is_one_message() -> None:
    transcript = Transcript().context("Today.").user("Go.").notice("Hurry.")

    assert projected(transcript) == [("user", [text("Today."), text("Go."), text("Hurry.")])]


def test_results_come_first_and_in_the_order_of_their_calls() -> None:
    transcript = Transcript().user("Go.").assistant(call(1), call(2), call(3))
    transcript.result(call(3)).notice("A note.").result(call(1), {"ok": "é"}).user("Stop.")
    transcript.result(call(2))

    _, _, answer = projected(transcript)

    assert answer == (
        "user",
        [result(1, '{"ok":"é"}'), result(2), result(3), text("A note."), text("Stop.")],
    )


def test_a_failed_call_is_told_as_such() -> None:
    transcript = Transcript().user("Go.").assistant(call(1)).result(call(1), is_error=True)

    assert projected(transcript)[2] == ("user", [{**result(1), "is_error": True}])


def test_a_response_is_replayed_as_it_came() -> None:
    transcript = (
        Transcript()
        .user("Go.")
        .assistant(
            Thinking(text="", extra=SIGNED),
            HIDDEN,
            Text(text="I read.", extra={"citations": [{"type": "char_location"}]}),
            Opaque(block={"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
            call(1, arguments={"path": "a"}, extra={"caller": {"type": "direct"}}),
        )
    )

    assert projected(transcript)[1] == (
        "assistant",
        [
            {"type": "thinking", "thinking": "", "signature": "sig"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "I read.", "citations": [{"type": "char_location"}]},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "read_file",
                "input": {"path": "a"},
                "caller": {"type": "direct"},
            },
        ],
    )


def test_what_the_api_gives_and_does_not_take_back_is_left_out() -> None:
    transcript = Transcript().user("Go.")
    transcript.assistant(
        Thinking(text="", extra={**SIGNED, "elapsed": 3}),
        Text(text="I read.", extra={"parsed_output": {"a": 1}, "signature": "of a text"}),
        *(Opaque(block={"type": kind}) for kind in ("document", "image", "tool_result")),
        call(1, extra={"index": 2, "toolset_name": "files"}),
    )

    assert projected(transcript)[1] == (
        "assistant",
        [
            {"type": "thinking", "thinking": "", "signature": "sig"},
            text("I read."),
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "read_file",
                "input": {},
                "toolset_name": "files",
            },
        ],
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"model": "claude-opus-5-5"}, id="another-model"),
        pytest.param({"prefix": "prefix-2"}, id="another-prefix"),
    ],
)
def test_thinking_is_replayed_only_where_it_was_made(changes: dict[str, str]) -> None:
    transcript = Transcript().user("Go.")
    transcript.assistant(Thinking(text="", extra=SIGNED), HIDDEN, Text(text="Done."))

    assert projected(transcript, **changes)[1] == ("assistant", [text("Done.")])


def test_of_another_provider_only_what_everyone_understands_is_replayed() -> None:
    transcript = Transcript().user("Go.")
    transcript.assistant(
        Thinking(text="Hm.", extra={"reasoning_id": "r"}),
        Opaque(block={"type": "reasoning", "id": "r"}),
        Text(text="Done.", extra={"annotations": []}),
        call(1, extra={"extra_content": {"google": "x"}}),
        provider="openai",
    )

    assert projected(transcript)[1] == (
        "assistant",
        [
            text("Done."),
            {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}},
        ],
    )


def test_a_response_without_an_origin_counts_as_foreign() -> None:
    transcript = Transcript().user("Go.")
    transcript.add(Role.ASSISTANT, Thinking(text="", extra=SIGNED), Text(text="Done."))

    assert projected(transcript)[1] == ("assistant", [text("Done.")])


def test_thinking_that_was_never_signed_is_left_out() -> None:
    transcript = Transcript().user("Go.").assistant(Thinking(text="Hm."), Text(text="Done."))

    assert projected(transcript)[1] == ("assistant", [text("Done.")])


def test_thinking_that_nothing_follows_is_left_out() -> None:
    transcript = Transcript().user("Go.").assistant(Text(text="Well."), HIDDEN)

    assert projected(transcript)[1] == ("assistant", [text("Well.")])


@pytest.mark.parametrize("said", ["", " \n\t"])
def test_an_empty_text_is_left_out_and_an_empty_response_with_it(said: str) -> None:
    transcript = Transcript().user("Go.").assistant(Text(text=said)).notice("Answer, please.")
    transcript.assistant(Text(text=said), call(1)).result(call(1)).context(said)

    assert projected(transcript) == [
        ("user", [text("Go."), text("Answer, please.")]),
        ("assistant", [{"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}]),
        ("user", [result(1)]),
    ]


def test_a_user_who_says_nothing_still_has_a_turn() -> None:
    assert projected(Transcript().user(" ")) == [("user", [text("(no text)")])]


def test_a_paused_response_and_its_continuation_are_one_message() -> None:
    transcript = Transcript().user("Go.").assistant(Text(text="One.")).assistant(Text(text="Two."))

    assert projected(transcript)[1] == ("assistant", [text("One."), text("Two.")])


def test_ids_and_names_of_other_providers_are_made_to_fit() -> None:
    odd = call(1, call_id="call:1/a", name="files.read")
    transcript = Transcript()
    for _ in range(2):
        transcript.user("Go.").assistant(odd, provider="other").result(odd)
    transcript.assistant(call(2, call_id="", name=""), provider="other")

    messages = projected(transcript)

    used = [m[1][0] for m in messages if m[0] == "assistant"]
    answered = [m[1][0]["tool_use_id"] for m in messages[2::2]]
    assert [block["id"] for block in used] == ["call_1_a", "call_1_a_2", "_"]
    assert [block["name"] for block in used] == ["files_read", "files_read", "_"]
    assert answered == ["call_1_a", "call_1_a_2"]


def test_text_that_cannot_be_sent_is_replaced() -> None:
    broken = call(1, arguments={"path": "a\ud800"})
    transcript = Transcript().user("\ud800!").assistant(broken).result(broken, {"a": "\ud800"})

    sent = projected(transcript)

    assert sent[0][1] == [text("\ufffd!")]
    assert sent[1][1][0]["input"] == {"path": "a\ufffd"}
    assert sent[2][1][0]["content"] == [text('{"a":"\ufffd"}')]


def test_a_longer_conversation_begins_like_the_shorter_one() -> None:
    transcript, earlier = Transcript().user("Go."), list[tuple[WireMessage, ...]]()
    for number in range(6):
        earlier.append(project(transcript.messages, model=MODEL, prefix="prefix-1"))
        transcript.assistant(Thinking(text="", extra=SIGNED), Text(text=""), call(number))
        transcript.result(call(number)).notice("Go on.")
        earlier.append(project(transcript.messages, model=MODEL, prefix="prefix-1"))
        transcript.assistant(HIDDEN, Text(text="Done.")).context("Now.").user("More.")

    last = project(transcript.messages, model=MODEL, prefix="prefix-1")

    assert all(last[: len(messages)] == messages for messages in earlier)
    assert PROVIDER == "anthropic"
