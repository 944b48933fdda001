from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import cast

import pytest
from typing_extensions import override

from runner.clients.factory import build_client
from runner.core.errors import (
    CallCancelled,
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.messages import Opaque, Text, Thinking, ToolCall
from runner.core.model import (
    Delta,
    ModelRequest,
    ModelResponse,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    Usage,
)
from runner.core.ports import ModelClient
from runner.definitions.config import ScriptedClient
from runner.tools.cancel import CancelFlag
from tests.fakes.transcript import Transcript

SCRIPT = """\
- agent: editor
  when: brief
  answers:
    - thinking: First I read about {task}.
      text: I read.
      tool_calls:
        - {name: read_file, arguments: {path: "notes/{task}.md"}}
        - {name: read_file, arguments: {}}
    - text: "The notes say: {last_result.content}"
- agent: editor
  when: again
  answers: [{tool_calls: [{name: read_file}]}]
"""


def client(folder: Path, script: str = SCRIPT) -> ModelClient:
    (folder / "script.yaml").write_text(script)
    definition = ScriptedClient(type="scripted", scripts=("*.yaml",))
    return build_client("offline", definition, root=folder)


def ask(client: ModelClient, request: ModelRequest) -> ModelResponse:
    return client.complete(request, lambda _delta: None, CancelFlag())


def answer(*lines: str) -> str:
    return "\n      ".join(["- agent: editor\n  answers:\n    -", *lines])


def test_a_turn_is_answered_step_by_step(tmp_path: Path) -> None:
    scripted, transcript = client(tmp_path), Transcript().context("Today.").user("a brief")

    first = ask(scripted, transcript.request())
    transcript.response(first)
    for asked in [part for part in first.parts if isinstance(part, ToolCall)]:
        transcript.result(asked, {"content": "tea is hot"})
    second = ask(scripted, transcript.notice("Go on.").request())

    thinking, said, call, other = first.parts
    assert (thinking, said) == (
        Thinking(text="First I read about a brief."),
        Text(text="I read."),
    )
    assert isinstance(call, ToolCall)
    assert isinstance(other, ToolCall)
    assert call.arguments == {"path": "notes/a brief.md"}
    assert call.call_id != other.call_id
    assert first.stop_reason is StopReason.TOOL_CALLS
    assert second.parts == (Text(text="The notes say: tea is hot"),)
    assert second.stop_reason is StopReason.END
    assert (first.provider, first.model) == ("scripted", "claude-sonnet-5-5")


def test_the_same_request_has_the_same_answer_in_any_process(tmp_path: Path) -> None:
    request = Transcript().user("a brief").request()

    assert ask(client(tmp_path), request) == ask(client(tmp_path), request)


def test_call_ids_never_come_twice_in_a_conversation(tmp_path: Path) -> None:
    scripted, transcript, ids = client(tmp_path), Transcript(), list[str]()
    for turn in range(3):
        transcript.user(f"again {turn}")
        for _ in range(3):
            response = ask(scripted, transcript.request())
            call = cast("ToolCall", response.parts[0])
            ids.append(call.call_id)
            transcript.response(response).result(call)

    assert len(set(ids)) == 9


def test_the_last_answer_serves_all_further_steps(tmp_path: Path) -> None:
    transcript = Transcript().user("brief").assistant(Text(text="a")).assistant(Text(text="b"))

    response = ask(client(tmp_path), transcript.request())

    assert response.parts == (Text(text="The notes say: {last_result.content}"),)


def test_each_turn_begins_its_script_anew(tmp_path: Path) -> None:
    transcript = Transcript().user("brief").assistant(Text(text="done")).user("another brief")

    assert ask(client(tmp_path), transcript.request()).parts[0] == Thinking(
        text="First I read about another brief."
    )


def test_what_is_said_to_a_turn_under_way_is_answered_by_the_entry_that_fits(
    tmp_path: Path,
) -> None:
    script = (
        "- {agent: editor, after: list_files, answers: [{text: 'Listed, and then: {task}'}]}\n"
        "- {agent: editor, after: read_file, answers: [{text: 'Read, and then: {task}'}]}\n"
        "- {agent: editor, answers: [{text: first}, {tool_calls: [{name: read_file}]}]}\n"
    )
    scripted, transcript = client(tmp_path, script), Transcript().user("go")
    call = ToolCall(call_id="c1", name="read_file", arguments={})

    first = ask(scripted, transcript.request())
    transcript.assistant(call).result(call, {"text": "x"})
    planned = ask(scripted, transcript.request())
    steered = ask(scripted, transcript.user("shorter").request())

    assert first.parts == (Text(text="first"),)
    assert isinstance(planned.parts[0], ToolCall)
    assert steered.parts == (Text(text="Read, and then: shorter"),)


def test_an_agent_without_a_script_is_told_so_with_its_task(tmp_path: Path) -> None:
    request = Transcript().user("Say hello.\nTwice, {last_result}.").request(agent="new")

    response = ask(client(tmp_path), request)

    (said,) = response.parts
    assert isinstance(said, Text)
    assert "offline scripted client" in said.text
    assert "'new'" in said.text
    assert "Say hello.\nTwice, {last_result}." in said.text
    assert response.stop_reason is StopReason.END


def test_a_request_without_a_task_is_answered_too(tmp_path: Path) -> None:
    assert ask(client(tmp_path), Transcript().notice("Go on.").request()).parts


def test_an_answer_is_streamed_in_small_pieces(tmp_path: Path) -> None:
    seen = list[Delta]()

    script = answer("thinking: hm", f"text: {'word ' * 20}", "tool_calls: [{name: read_file}]")
    response = client(tmp_path, script.replace("-\n      ", "- ")).complete(
        Transcript().user("go").request(), seen.append, CancelFlag()
    )

    said = [delta.text for delta in seen if isinstance(delta, TextDelta)]
    assert len(said) > 3
    assert Text(text="".join(said)) in response.parts
    assert seen[0] == ThinkingDelta(text="hm")
    assert seen[-1] == ToolCallStarted(name="read_file")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("unavailable", ModelUnavailable),
        ("transport", ModelTransport),
        ("rejected", ModelRejected),
        ("too_long", PromptTooLong),
        ("access", ModelAccessDenied),
    ],
)
def test_an_answer_may_be_a_failure(kind: str, error: type[ModelError], tmp_path: Path) -> None:
    scripted = client(tmp_path, f"- agent: editor\n  answers: [{{error: {{kind: {kind}}}}}]\n")
    request = Transcript().user("go").request()

    for _ in range(3):
        with pytest.raises(error, match=f"fails: {kind}$") as caught:
            ask(scripted, request)
        assert type(caught.value) is error


def test_a_failure_may_ask_for_a_delay_and_end_after_some_times(tmp_path: Path) -> None:
    error = "{kind: unavailable, retry_after: 1500ms, times: 2}"
    scripted = client(tmp_path, f"- agent: editor\n  answers: [{{text: ok, error: {error}}}]\n")
    request = Transcript().user("go").request()

    for _ in range(2):
        with pytest.raises(ModelUnavailable) as caught:
            ask(scripted, request)
        assert caught.value.retry_after == 1.5
    assert ask(scripted, request).parts == (Text(text="ok"),)
    with pytest.raises(ModelUnavailable):
        ask(scripted, Transcript().user("go").request())


@pytest.mark.parametrize("stop", list(StopReason))
def test_an_answer_may_stop_for_any_reason(stop: StopReason, tmp_path: Path) -> None:
    scripted = client(tmp_path, f"- agent: editor\n  answers: [{{text: x, stop: {stop}}}]\n")

    assert ask(scripted, Transcript().user("go").request()).stop_reason is stop


def test_usage_is_what_the_script_says_or_an_estimate(tmp_path: Path) -> None:
    scripted = client(
        tmp_path,
        "- agent: editor\n  answers: [{text: x, usage: {input_tokens: 7, cache_read_tokens: 2}},"
        " {thinking: 'long thought, long', text: 'a few words'}]\n",
    )
    transcript = Transcript().user("go")

    told = ask(scripted, transcript.request())
    estimated = ask(scripted, transcript.response(told).request())

    assert told.usage == Usage(input_tokens=7, cache_read_tokens=2)
    assert estimated.usage.input_tokens > 20
    assert estimated.usage.output_tokens > estimated.usage.thinking_tokens > 0


class WatchedFlag(CancelFlag):
    """Tells when somebody has begun to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.awaited = Event()

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        unsubscribe = super().subscribe(callback)
        self.awaited.set()
        return unsubscribe


def test_a_delay_lasts_until_the_call_is_cancelled(tmp_path: Path) -> None:
    scripted = client(tmp_path, "- agent: editor\n  answers: [{text: x, delay: 1h}]\n")
    cancelled, request = WatchedFlag(), Transcript().user("go").request()

    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(scripted.complete, request, lambda _delta: None, cancelled)
        assert cancelled.awaited.wait(60)
        cancelled.set()

        with pytest.raises(CallCancelled):
            call.result(60)


def test_a_call_that_is_cancelled_while_it_streams_says_no_more(tmp_path: Path) -> None:
    scripted, cancelled, seen = client(tmp_path), CancelFlag(), list[Delta]()

    def take(delta: Delta) -> None:
        seen.append(delta)
        cancelled.set()

    with pytest.raises(CallCancelled):
        scripted.complete(Transcript().user("brief").request(), take, cancelled)

    assert len(seen) == 1


def test_a_request_is_rendered_as_a_model_would_read_it(tmp_path: Path) -> None:
    call = ToolCall(call_id="c1", name="read_file", arguments={"path": "a"})
    block = Opaque(block={"type": "odd"})
    transcript = Transcript().user("go").assistant(Thinking(text="hm"), block, call)
    request = transcript.result(call, {"x": 1}, is_error=True).request(
        output_schema={"type": "object"}
    )

    rendered = client(tmp_path).render(request)

    assert rendered.provider == "scripted"
    assert rendered.body["output_schema"] == {"type": "object"}
    assert rendered.body["messages"] == [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "assistant",
            "parts": [
                {"thinking": "hm"},
                {"type": "odd"},
                {"tool_call": {"id": "c1", "name": "read_file", "arguments": {"path": "a"}}},
            ],
        },
        {
            "role": "tool",
            "parts": [
                {
                    "tool_result": {
                        "id": "c1", "name": "read_file", "content": {"x": 1}, "is_error": True,
                    }
                }
            ],
        },
    ]  # fmt: skip


def test_a_request_may_be_tried_several_times(tmp_path: Path) -> None:
    assert client(tmp_path).max_attempts == 4
