from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from runner.cli import messages, show
from runner.cli.story import Story, Wait
from runner.cli.text import plain
from runner.core.coordination import Input
from runner.core.ids import ConversationId, ExecutionId, InputId, MessageId, TurnId, WorkerId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Opaque, Part, Role, Text, Thinking, ToolResult
from runner.core.records import Event, TurnError
from runner.core.states import TurnStatus
from runner.core.tree import TreeUse
from tests.unit.cli.scenes import NOON, TURN, execution, message, turn

CHILD = TurnId("turn_2")


def file_console() -> tuple[Console, StringIO]:
    lines = StringIO()
    return Console(file=lines, width=100, markup=False, highlight=False), lines


@pytest.mark.parametrize(
    ("part", "line"),
    [
        (Text(text="[b]hi[/b]\x1b[2J"), "[b]hi[/b]"),
        (Thinking(text=""), "(thinking that the provider keeps to itself)"),
        (Thinking(text="hm"), "hm"),
        (ToolResult(call_id="c", name="look_up", content={"a": 1}), 'look_up: {"a":1}'),
        (Opaque(block={"x": 1}), "(something only the provider understands)"),
    ],
)
def test_every_kind_of_part_is_shown_in_a_conversation(part: Part, line: str) -> None:
    out, lines = file_console()

    messages._print(out, message("msg_1", [part], role=Role.ASSISTANT), "hello")

    assert lines.getvalue().splitlines() == ["waits hello", f"  {line}", ""]


def test_a_turn_of_which_nothing_has_happened_is_shown() -> None:
    out, lines = file_console()
    story = Story(turn=turn(TurnStatus.PREPARED), results={})

    show._print(out, story)

    assert lines.getvalue().splitlines()[0] == "turn_1  prepared"
    assert "phase        model" in lines.getvalue()
    assert "timeline" not in lines.getvalue()


def test_an_event_is_one_line_of_a_terminal_without_what_only_programs_need() -> None:
    lines = StringIO()
    out = Console(file=lines, force_terminal=True, width=60, markup=False, highlight=False)
    body: JsonObject = {
        "message_id": "msg_1",
        "model": "m",
        "cache_read_tokens": 0,
        "usage": {"input_tokens": 5},
        "note": "long " * 50,
    }
    event = Event(id=1, turn_id=TURN, kind="model.responded", body=body, at=NOON)

    show._print(out, Story(turn=turn(TurnStatus.COMPLETED), results={}, events=[event]))

    last = plain(lines.getvalue()).splitlines()[-1]
    assert last.startswith("     +0.000s  model.responded    model=m note=long")
    assert last.endswith("…")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"cost": "0.00327", "unpriced_requests": 0}, "cost=$0.00327"),
        ({"cost": None}, "cost=unpriced"),
        ({"cost": "0.1", "unpriced_requests": 2}, "cost=$0.1 unpriced_requests=2"),
    ],
)
def test_an_event_says_what_was_paid(body: JsonObject, said: str) -> None:
    out, lines = file_console()
    event = Event(id=1, turn_id=TURN, kind="turn.completed", body=body, at=NOON)

    show._print(out, Story(turn=turn(TurnStatus.COMPLETED), results={}, events=[event]))

    assert lines.getvalue().splitlines()[-1].endswith(f"turn.completed     {said}")


def test_an_error_is_shown_with_its_details_and_a_call_without_a_result() -> None:
    out, lines = file_console()
    error = TurnError(code="limit", message="over", details={"path": "limits.timeout"})
    story = Story(
        turn=turn(TurnStatus.FAILED, error=error),
        executions=[execution("exec_1", "look_up", {"name": "Ada"})],
        results={},
    )

    show._print(out, story)

    text = lines.getvalue()
    assert "error: limit\n  over\n" in text
    assert '{"path":"limits.timeout"}' in text
    assert '→ {"name":"Ada"}' in text
    assert "←" not in text


def shown(story: Story) -> str:
    out, lines = file_console()
    show._print(out, story)
    return lines.getvalue()


def given(position: int, *, message_id: str | None = None) -> Input:
    return Input(
        id=InputId(f"input_{position}"),
        key=f"key_{position}",
        turn_id=TURN,
        position=position,
        text=f"Say\n{position}.",
        message_id=None if message_id is None else MessageId(message_id),
    )


def test_the_turns_below_are_shown_with_what_the_tree_has_used() -> None:
    root = replace(turn(TurnStatus.WAITING), open_waits=1, use=TreeUse(iterations=3, children=1))
    child = turn(TurnStatus.RUNNING, turn_id=CHILD, parent=TURN, agent="scout")
    wait = Wait(awaited=child, execution_id=ExecutionId("exec_1"))

    text = shown(Story(turn=root, below=[child], waits=[wait], results={}))

    assert "  waits for    1 turn\n" in text
    assert "1 of 50 turns below it, 3 of 25 model requests, 0 of 100 tool executions" in text
    tree = "  hello  waiting  turn_1  $0.0312\n  └─ scout  running  turn_2  $0.0312\n"
    assert f"\ntree\n{tree}  whole tree  2 turns · 4 model requests" in text
    assert "90 out · $0.0624\n" in text
    assert "\nwaits for\n" not in text


def test_a_turn_below_another_names_its_parent_and_its_root() -> None:
    text = shown(Story(turn=turn(TurnStatus.PENDING, turn_id=CHILD, parent=TURN), results={}))

    assert "  parent       turn_1\n  root         turn_1\n" in text
    assert "\ntree\n" not in text


def test_turns_that_are_waited_for_elsewhere_are_shown_by_when_they_are() -> None:
    first, second = (
        turn(TurnStatus.RUNNING, turn_id=TurnId(f"turn_{number}")) for number in (8, 9)
    )
    waits = [Wait(awaited=first), Wait(awaited=second, execution_id=ExecutionId("exec_1"))]

    text = shown(Story(turn=turn(TurnStatus.WAITING), waits=waits, results={}))

    assert "\nwaits for\n  turn_8 running before it starts\n  turn_9 running\n" in text


def test_inputs_are_shown_with_how_far_they_got() -> None:
    inputs = [given(1, message_id="msg_1"), given(2)]

    text = shown(Story(turn=turn(TurnStatus.RUNNING), inputs=inputs, results={}))

    assert "\ninputs\n  1. in the transcript\n     Say 1.\n  2. queued\n     Say 2.\n" in text


def test_what_is_asked_of_a_turn_and_who_hears_of_it_is_shown() -> None:
    asked = replace(
        turn(TurnStatus.RUNNING),
        waiters=2,
        open_inputs=1,
        pause_requested=True,
        cancel_requested=True,
        callback_to=ConversationId("conv_9"),
    )

    text = shown(Story(turn=asked, results={}))

    for line in (
        "  awaited by   2 turns",
        "  inputs       1 queued",
        "  asked        to pause",
        "  asked        to cancel",
        "  callback     its end is told to conv_9",
    ):
        assert line in text.splitlines()


def test_a_turn_that_is_worked_on_names_its_worker() -> None:
    running = replace(turn(TurnStatus.RUNNING), worker_id=WorkerId("worker_7"))

    assert "  worker       worker_7" in shown(Story(turn=running, results={})).splitlines()


def test_a_stale_turn_says_how_it_goes_on() -> None:
    text = shown(Story(turn=turn(TurnStatus.STALE), results={}))

    assert "it ran in a process that died" in text
    assert "`runner resume turn_1`" in text
