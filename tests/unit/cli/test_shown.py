from io import StringIO

import pytest
from rich.console import Console

from runner.cli import messages, show
from runner.cli.text import plain
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Opaque, Part, Role, Text, Thinking, ToolResult
from runner.core.records import Event, TurnError
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import NOON, TURN, execution, message, turn


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
    story = show._Story(turn=turn(TurnStatus.PREPARED), executions=[], results={}, events=[])

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
    done = turn(TurnStatus.COMPLETED)

    show._print(out, show._Story(turn=done, executions=[], results={}, events=[event]))

    last = plain(lines.getvalue()).splitlines()[-1]
    assert last.startswith("     +0.000s  model.responded    model=m note=long")
    assert last.endswith("…")


def test_an_error_is_shown_with_its_details_and_a_call_without_a_result() -> None:
    out, lines = file_console()
    error = TurnError(code="limit", message="over", details={"path": "limits.timeout"})
    story = show._Story(
        turn=turn(TurnStatus.FAILED, error=error),
        executions=[execution("exec_1", "look_up", {"name": "Ada"})],
        results={},
        events=[],
    )

    show._print(out, story)

    text = lines.getvalue()
    assert "error: limit\n  over\n" in text
    assert '{"path":"limits.timeout"}' in text
    assert '→ {"name":"Ada"}' in text
    assert "←" not in text
