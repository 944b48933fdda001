"""What becomes of a turn that nothing disturbs."""

from threading import Event
from typing import Any

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role, Text, ToolCall
from runner.core.model import ModelResponse, StopReason
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, respond, says
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench, assert_valid

ENDED = ExecutionStatus


def statuses(bench: Bench, turn: Turn) -> list[ExecutionStatus]:
    return [run.status for run in bench.executions(turn)]


def test_an_answer_completes_the_turn(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Hello.", input_tokens=5, output_tokens=2))))

    turn = bench.run("Greet me.")

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Hello.")
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (5, 2)
    assert [message.role for message in bench.messages(turn)] == [
        Role.USER,
        Role.CONTEXT,
        Role.ASSISTANT,
    ]
    assert [message.seq for message in bench.messages(turn)] == [1, 2, 3]


def test_tools_run_one_after_another_in_call_order(store: Store) -> None:
    order: list[str] = []

    def log(arguments: JsonObject, _context: ToolContext) -> object:
        order.append(str(arguments["n"]))
        return {"n": arguments["n"]}

    client = FakeClient(calls(("log", {"n": "a"}), ("log", {"n": "b"})), says("Done."))
    bench = Bench(store, make_agent(client, FakeTool("log", log)))

    turn = bench.run()

    assert turn.result == "Done."
    assert order == ["a", "b"]
    assert [result.content for result in bench.results(turn)] == [{"n": "a"}, {"n": "b"}]
    assert statuses(bench, turn) == [ENDED.COMPLETED, ENDED.COMPLETED]
    assert_valid(bench.messages(turn))


def test_a_call_that_cannot_be_made_gets_a_result_and_counts_against_no_limit(
    store: Store,
) -> None:
    client = FakeClient(
        calls(("lgo", {}), ("log", {}), ("log", {"n": 1}), ("log", {"n": 2})), says("Done.")
    )
    tool = FakeTool("log", requires=("n",))
    bench = Bench(store, make_agent(client, tool, limits=ResolvedLimits(max_tool_executions=1)))

    turn = bench.run()

    assert turn.status is TurnStatus.COMPLETED
    assert statuses(bench, turn) == [ENDED.REFUSED, ENDED.REFUSED, ENDED.COMPLETED, ENDED.REFUSED]
    assert tool.calls == [{"n": 1}]
    assert turn.tool_executions == 1
    texts = [str(result.content) for result in bench.results(turn)]
    assert "did you mean 'log'" in texts[0]
    assert "'n' is missing" in texts[1]
    assert "limits.max_tool_executions" in texts[3]
    assert_valid(bench.messages(turn))


def test_a_limit_by_name_leaves_other_tools_alone(store: Store) -> None:
    client = FakeClient(calls(("a", {}), ("a", {}), ("b", {})), says("Done."))
    limits = ResolvedLimits(max_tool_executions_by_name={"a": 1})
    bench = Bench(store, make_agent(client, FakeTool("a"), FakeTool("b"), limits=limits))

    turn = bench.run()

    assert statuses(bench, turn) == [ENDED.COMPLETED, ENDED.REFUSED, ENDED.COMPLETED]
    assert "limits.max_tool_executions_by_name.a" in str(bench.results(turn)[1].content)


@pytest.mark.parametrize("recovery", list(Recovery))
def test_nothing_runs_after_a_terminal_tool_succeeded(store: Store, recovery: Recovery) -> None:
    client = FakeClient(calls(("save", {}), ("other", {}), ("nothing", {})))
    rules = ToolRules(terminal=True, terminal_message="Saved {path}.", recovery=recovery)
    save = FakeTool("save", lambda _arguments, _context: {"path": "a.md"}, rules=rules)
    other = FakeTool("other")
    bench = Bench(store, make_agent(client, save, other))

    turn = bench.run()

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Saved a.md.")
    assert turn.output_data == {"path": "a.md"}
    assert not other.calls
    assert statuses(bench, turn) == [ENDED.COMPLETED, ENDED.SKIPPED, ENDED.SKIPPED]
    assert_valid(bench.messages(turn))


def test_a_terminal_tool_that_fails_ends_nothing(store: Store) -> None:
    def fail(_arguments: JsonObject, _context: ToolContext) -> object:
        raise OSError("disk full")

    client = FakeClient(calls(("save", {})), says("I could not save it."))
    bench = Bench(store, make_agent(client, FakeTool("save", fail, rules=ToolRules(terminal=True))))

    turn = bench.run()

    assert turn.result == "I could not save it."
    assert bench.results(turn)[0].content == {"error": {"type": "OSError", "message": "disk full"}}
    assert statuses(bench, turn) == [ENDED.FAILED]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="nothing"),
        pytest.param("", id="an-empty-text"),
        pytest.param(b"\xff\x00", id="bytes"),
        pytest.param("\ud800 \x00", id="a-lone-surrogate-and-nul"),
        pytest.param(float("nan"), id="nan"),
        pytest.param(10**400, id="a-huge-integer"),
        pytest.param("x" * 10_000_000, id="ten-megabytes"),
        pytest.param(SystemExit(3), id="the-end-of-the-program"),
        pytest.param(KeyboardInterrupt(), id="an-interrupt"),
        pytest.param(TimeoutError("slow"), id="its-own-time-out"),
    ],
)
def test_a_conversation_works_on_whatever_a_tool_does(store: Store, value: object) -> None:
    def act(_arguments: JsonObject, _context: ToolContext) -> object:
        if isinstance(value, BaseException):
            raise value
        return value

    client = FakeClient(calls(("act", {})), says("One."), says("Two."))
    bench = Bench(store, make_agent(client, FakeTool("act", act)))

    first = bench.run()
    second = bench.run("More.", after=first)

    assert (first.result, second.result) == ("One.", "Two.")
    assert_valid(bench.messages(first))
    assert len(str(bench.results(first)[0].content)) < 200_000


def test_a_tool_that_runs_past_its_limit_gets_a_result(store: Store) -> None:
    seen: list[bool] = []

    def wait(_arguments: JsonObject, context: ToolContext) -> object:
        context.cancelled.subscribe(lambda: seen.append(True))
        return "late" if _blocked_until(context) else None

    client = FakeClient(calls(("wait", {})), says("Too slow."))
    bench = Bench(store, make_agent(client, FakeTool("wait", wait, rules=ToolRules(timeout=0.05))))

    turn = bench.run()

    assert turn.result == "Too slow."
    assert statuses(bench, turn) == [ENDED.TIMED_OUT]
    assert seen == [True]


def _blocked_until(context: ToolContext) -> bool:
    woken = Event()
    context.cancelled.subscribe(woken.set)
    return woken.wait(60)


def test_what_a_tool_appends_follows_all_results(store: Store) -> None:
    def note(_arguments: JsonObject, context: ToolContext) -> object:
        context.append_message("Mind the gap.")
        return "ok"

    client = FakeClient(calls(("note", {}), ("plain", {})), says("Done."))
    bench = Bench(store, make_agent(client, FakeTool("note", note), FakeTool("plain")))

    turn = bench.run()

    assert "Mind the gap." in [message.text for message in bench.messages(turn)]
    assert_valid(bench.messages(turn))


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [
        pytest.param(StopReason.MAX_TOKENS, "truncated", id="cut"),
        pytest.param(StopReason.CONTEXT_FULL, "context_full", id="context-full"),
        pytest.param(StopReason.REFUSAL, "refused", id="refused"),
    ],
)
def test_half_an_answer_fails_the_turn_and_runs_none_of_its_calls(
    store: Store, stop_reason: StopReason, code: str
) -> None:
    half = respond(
        [Text(text="I will"), ToolCall(call_id="c1", name="act", arguments={})], stop_reason
    )
    tool = FakeTool("act")
    bench = Bench(store, make_agent(FakeClient(half, says("Fine.")), tool))

    turn = bench.run()
    later = bench.run("Again.", after=turn)

    assert turn.error is not None
    assert (turn.status, turn.error.code) == (TurnStatus.FAILED, code)
    assert not tool.calls
    assert not bench.executions(turn)
    assert later.result == "Fine."


def test_an_empty_answer_is_asked_for_again_a_bounded_number_of_times(store: Store) -> None:
    client = FakeClient(respond([], StopReason.END))
    bench = Bench(store, make_agent(client))

    turn = bench.run()

    assert turn.error is not None
    assert turn.error.code == "empty_answer"
    assert len(client.requests) == 3
    assert all(message.role is not Role.ASSISTANT for message in bench.messages(turn))


def test_an_empty_answer_is_forgiven_when_the_next_says_something(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(respond([], StopReason.END), says("Here."))))

    assert bench.run().result == "Here."


def test_a_paused_answer_is_sent_back_and_continued(store: Store) -> None:
    client = FakeClient(respond([Text(text="So far.")], StopReason.PAUSE), says("The rest."))
    bench = Bench(store, make_agent(client))

    turn = bench.run()

    assert turn.result == "The rest."
    assert client.requests[1].messages[-1].text == "So far."
    assert turn.iterations == 2


def test_an_answer_that_pauses_without_end_ends_at_the_limit_of_iterations(store: Store) -> None:
    client = FakeClient(respond([Text(text="So far.")], StopReason.PAUSE))
    bench = Bench(store, make_agent(client, limits=ResolvedLimits(max_iterations=3)))

    turn = bench.run()

    assert turn.error is not None
    assert (turn.error.code, len(client.requests)) == ("limit", 3)


def test_a_loop_of_tools_ends_at_the_limit_of_iterations(store: Store) -> None:
    number = iter(range(100))
    client = FakeClient(lambda _request: calls(("act", {}), prefix=f"call{next(number)}"))
    tool = FakeTool("act")
    bench = Bench(store, make_agent(client, tool, limits=ResolvedLimits(max_iterations=3)))

    turn = bench.run()

    assert turn.error is not None
    assert turn.error.code == "limit"
    assert turn.error.details == {"path": "limits.max_iterations", "used": 3, "limit": 3}
    assert len(client.requests) == 3
    assert_valid(bench.messages(turn))


SCHEMA: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def test_structured_output_is_checked_and_kept(store: Store) -> None:
    bench = Bench(
        store, make_agent(FakeClient(says('```json\n{"n": 3}\n```')), output_schema=SCHEMA)
    )

    turn = bench.run()

    assert turn.status is TurnStatus.COMPLETED
    assert turn.output_data == {"n": 3}


def test_structured_output_is_repaired(store: Store) -> None:
    client = FakeClient(says("n is 3"), says('{"n": "3"}'), says('{"n": 3}'))
    bench = Bench(store, make_agent(client, output_schema=SCHEMA))

    turn = bench.run()

    assert turn.output_data == {"n": 3}
    assert "not JSON" in client.requests[1].messages[-1].text


def test_structured_output_that_is_never_right_fails_with_the_complaint(store: Store) -> None:
    client = FakeClient(says('{"n": "3"}'))
    bench = Bench(store, make_agent(client, output_schema=SCHEMA))

    turn = bench.run()

    assert turn.error is not None
    assert turn.error.code == "invalid_output"
    assert "integer" in turn.error.message
    assert len(client.requests) == 3


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_json_does_not_have_is_no_structured_output(
    store: Store, number: str
) -> None:
    client = FakeClient(says(number), says("3"))
    bench = Bench(store, make_agent(client, output_schema={"type": "number"}))

    turn = bench.run()

    assert turn.output_data == 3
    assert "output.rejected" in bench.kinds(turn)


def test_structured_output_that_is_nested_too_deeply_is_asked_for_again(store: Store) -> None:
    client = FakeClient(says("[" * 100_000), says("[]"))
    bench = Bench(store, make_agent(client, output_schema={"type": "array"}))

    assert bench.run().output_data == []


def test_calls_are_told_apart_when_a_server_repeats_their_ids(store: Store) -> None:
    def ask(*call_ids: str) -> ModelResponse:
        parts = [ToolCall(call_id=each, name="act", arguments={"id": each}) for each in call_ids]
        return respond(parts, StopReason.TOOL_CALLS)

    tool = FakeTool("act", lambda arguments, _context: arguments)
    client = FakeClient(ask("a", "a", ""), ask("a", "b", "b" * 9_000), says("Done."))
    bench = Bench(store, make_agent(client, tool))

    turn = bench.run()

    assert turn.result == "Done."
    assert [run.call_id for run in bench.executions(turn)] == [
        "a",
        "a_2",
        "call_2",
        "a_3",
        "b",
        "b" * 200,
    ]
    assert [result.content["id"] for result in bench.results(turn)] == [
        "a",
        "a",
        "",
        "a",
        "b",
        "b" * 9_000,
    ]
    assert len(set(tool.keys)) == 6
    assert_valid(bench.messages(turn))


@pytest.mark.parametrize("message", [7, None, "x" * 300_000, "half \ud800"])
def test_a_conversation_works_on_whatever_a_tool_appends(store: Store, message: Any) -> None:  # noqa: ANN401 - anything is the point
    def act(_arguments: JsonObject, context: ToolContext) -> object:
        context.append_message(message)
        return "ok"

    client = FakeClient(calls(("act", {})), says("Done."))
    bench = Bench(store, make_agent(client, FakeTool("act", act)))

    turn = bench.run()

    (notice,) = (m for m in bench.messages(turn) if m.role is Role.NOTICE)
    assert isinstance(notice.text, str)
    assert 0 < len(notice.text) <= ToolRules().max_result_chars
    assert bench.run(after=turn).status is TurnStatus.COMPLETED
