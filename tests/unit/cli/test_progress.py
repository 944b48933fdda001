from dataclasses import replace

import pytest

from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role, Text, ToolResult
from runner.core.model import CallRetried, ThinkingDelta, ToolCallStarted
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import TURN, execution, message
from tests.unit.cli.stage import CHILD, Stage, family


def failed_result(name: str, content: JsonObject) -> ToolResult:
    return ToolResult(call_id=f"call_{name}", name="look_up", content=content, is_error=True)


def test_a_tool_call_is_a_line_with_its_arguments_and_how_long_it_took() -> None:
    stage = Stage()
    stage.stored.all_executions = [execution("exec_1", "look_up", {"name": "Ada"})]

    stage.event("tool_call.started", at=10, execution_id="exec_1", tool="look_up")
    stage.event(
        "tool_call.ended", at=12.5, execution_id="exec_1", tool="look_up", status="completed"
    )

    assert stage.lines == ['✓ look_up {"name":"Ada"}  2.5s']


def test_a_call_without_arguments_that_took_no_time_is_its_name() -> None:
    stage = Stage()

    stage.event("tool_call.ended", execution_id="exec_1", tool="look_up", status="completed")

    assert stage.lines == ["✓ look_up"]


@pytest.mark.parametrize("turn_id", [TURN, CHILD])
def test_on_a_terminal_a_call_with_long_arguments_stays_on_one_line(turn_id: TurnId) -> None:
    stage = Stage(terminal=True, width=60)
    family(stage, TurnStatus.RUNNING)
    run = execution("exec_1", "look_up", {"name": "Ada " * 50})
    stage.stored.all_executions = [replace(run, turn_id=turn_id)]

    stage.event("turn.started")
    stage.event(
        "tool_call.ended",
        of=turn_id,
        execution_id="exec_1",
        tool="look_up",
        status="completed",
    )

    lines = [line for line in stage.plain_lines if "look_up" in line or "Ada" in line]
    stage.progress.stop()
    assert len(lines) == 1
    assert lines[0].endswith("…")
    assert len(lines[0]) <= 60


def test_on_a_terminal_a_call_that_another_turn_works_on_stays_on_one_line() -> None:
    stage = Stage(terminal=True, width=60)
    stage.stored.all_executions = [execution("exec_1", "scout", {"task": "Look. " * 50})]

    stage.event(
        "sub_agent.started", execution_id="exec_1", turn_id="turn_" + "2" * 15, agent="scout"
    )

    (line,) = [line for line in stage.plain_lines if "scout" in line or "Look" in line]
    assert line.endswith("…  turn_222222222222222")
    assert len(line) <= 60


def test_executions_are_read_once_for_all_calls_of_a_response() -> None:
    stage = Stage()
    stage.stored.all_executions = [execution(f"exec_{n}", "look_up", {}) for n in range(3)]

    for number in range(3):
        run_id = f"exec_{number}"
        stage.event("tool_call.started", execution_id=run_id, tool="look_up")
        stage.event("tool_call.ended", execution_id=run_id, tool="look_up", status="completed")

    assert stage.stored.asked == 1


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("failed", "✗ look_up  failed: KeyError: no such name"),
        ("timed_out", "✗ look_up  timed out: no such name"),
        ("refused", "⊘ look_up  refused: no such name"),
        ("interrupted", "? look_up  interrupted: no such name"),
        ("skipped", "- look_up  skipped: no such name"),
    ],
)
def test_a_call_that_did_not_succeed_says_why(status: str, line: str) -> None:
    stage = Stage()
    result = failed_result("exec_1", {"error": {"type": "KeyError", "message": "no such\nname"}})
    stage.stored.all_messages = [message("msg_1", [result], role=Role.TOOL, run="exec_1")]

    stage.event("tool_call.ended", execution_id="exec_1", tool="look_up", status=status)

    assert stage.lines == [line]


def test_what_the_model_says_is_told_when_something_follows() -> None:
    stage = Stage()

    stage.say("Let me ", "look.\n")
    stage.event("message.created", role="assistant", message_id="msg_1")
    assert stage.lines == []
    stage.event("tool_call.ended", execution_id="exec_1", tool="look_up", status="completed")

    assert stage.lines == ["Let me look.", "✓ look_up"]


def test_the_last_answer_is_left_to_be_shown_as_the_result() -> None:
    stage = Stage()

    stage.say("All done.")
    stage.event("message.created", role="assistant", message_id="msg_1")
    stage.event("turn.completed")
    stage.progress.stop()

    assert stage.lines == []


def test_an_answer_that_failed_the_turn_is_told() -> None:
    stage = Stage()

    stage.say("I shall")
    stage.event("turn.failed")

    assert stage.lines == ["I shall"]


def test_an_answer_of_which_nothing_was_streamed_is_looked_up() -> None:
    stage = Stage()
    stage.stored.all_messages = [message("msg_1", [Text(text="Let me look.")])]

    stage.event("message.created", role="assistant", message_id="msg_1")
    stage.event("tool_call.started", execution_id="exec_1", tool="look_up")

    assert stage.lines == ["Let me look."]


def test_each_of_several_answers_in_a_row_is_told() -> None:
    stage = Stage()
    stage.stored.all_messages = [
        message("msg_1", [Text(text="One.")]),
        message("msg_2", [Text(text="Two.")]),
    ]

    for message_id in ("msg_1", "msg_2"):
        stage.event("message.created", role="assistant", message_id=message_id)
    stage.say("Three.")
    stage.event("message.created", role="assistant", message_id="msg_3")
    stage.event("turn.failed")

    assert stage.lines == ["One.", "Two.", "Three."]


def test_a_retry_forgets_what_was_said() -> None:
    stage = Stage()

    stage.say("Half of ")
    stage.progress.on_delta(TURN, CallRetried(attempt=1, delay=2, error="the stream\nwas cut"))
    stage.say("The whole.")
    stage.event("tool_call.started", execution_id="exec_1", tool="look_up")

    assert stage.lines == [
        "↻ attempt 1 failed: the stream was cut; trying again in 2.0s",
        "The whole.",
    ]


def test_a_retry_in_a_chat_says_that_what_stands_there_is_void() -> None:
    stage = Stage(chat=True)

    stage.progress.on_delta(TURN, CallRetried(attempt=1, delay=2, error="overloaded"))
    stage.say("Half of ")
    stage.progress.on_delta(TURN, CallRetried(attempt=2, delay=2, error="cut"))
    stage.say("The whole.")
    stage.progress.stop()

    assert stage.text == "Half of \nThe whole.\n"
    assert stage.lines == [
        "↻ attempt 1 failed: overloaded; trying again in 2.0s",
        "↻ attempt 2 failed: cut; trying again in 2.0s; what it had said is void",
    ]


def test_a_retry_elsewhere_is_known_from_its_event() -> None:
    stage = Stage()

    stage.progress.retried(TURN, {"attempt": 2, "delay": 0.5, "error": "overloaded"})

    assert stage.lines == ["↻ attempt 2 failed: overloaded; trying again in 0.5s"]


def test_turns_that_are_handed_back_or_have_to_answer_again_say_so() -> None:
    stage = Stage()

    stage.event("turn.started")
    stage.event("turn.released", reason="lease expired")
    stage.event("output.rejected")
    stage.event("anything.else")

    assert stage.lines == [
        "↩ handed back: lease expired",
        "↻ the answer does not have the required form; asked again",
    ]


def test_in_a_chat_all_text_comes_at_once_and_lines_stand_apart_from_it() -> None:
    stage = Stage(chat=True)

    stage.say("Let me ", "look.")
    assert stage.text == "Let me look."
    stage.event("message.created", role="assistant", message_id="msg_1")
    stage.event("tool_call.ended", execution_id="exec_1", tool="look_up", status="completed")
    stage.say("Found it.")
    stage.progress.stop()

    assert stage.text == "Let me look.\nFound it.\n"
    assert stage.lines == ["✓ look_up"]


def test_hostile_text_is_neither_markup_nor_a_command_to_the_terminal() -> None:
    stage = Stage()
    stage.stored.all_executions = [execution("exec_1", "look_up", {"x": "[red]\x1b[2J\x9b"})]

    stage.say("[bold]x[/bold]\x1b[2J")
    stage.event("tool_call.ended", execution_id="exec_1", tool="[/]\x1b[2J", status="completed")

    assert stage.lines[0] == "[bold]x[/bold]"
    assert stage.lines[1].startswith('✓ [/] {"x":"[red]')
    assert "\x1b" not in stage.shown
    assert "\x9b" not in stage.shown


def test_a_terminal_shows_what_is_waited_for_and_what_is_being_said() -> None:
    stage = Stage(terminal=True)

    stage.event("turn.started")
    assert "working" in stage.shown
    stage.progress.on_delta(TURN, ThinkingDelta(text="hm"))
    stage.progress.on_delta(TURN, ToolCallStarted(name="look_up"))
    stage.say("one\n", "two")
    stage.progress.stop()

    assert stage.shown.endswith("\x1b[2K")


def test_a_terminal_has_no_spinner_while_a_chat_streams() -> None:
    stage = Stage(terminal=True, chat=True)

    stage.progress.wait_for("working")
    stage.say("Hello")
    before = stage.shown
    stage.progress.wait_for("working")

    assert stage.shown == before
    stage.progress.stop()
