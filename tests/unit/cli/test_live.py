import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest
from typing_extensions import override

from runner.cli.live import view_for
from runner.cli.looks import Look
from runner.cli.outcome import consumption
from runner.core.cost import Cost
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.model import CallRetried, Delta, TextDelta, ThinkingDelta, ToolCallStarted, Usage
from runner.core.records import Event, NewEvent, TurnError
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import NOON, TURN, Stored, turn


@pytest.mark.parametrize(
    ("delta", "shape"),
    [
        (TextDelta(text="hi"), {"type": "text", "text": "hi"}),
        (ThinkingDelta(text="hm"), {"type": "thinking", "text": "hm"}),
        (ToolCallStarted(name="look_up"), {"type": "tool_call", "name": "look_up"}),
        (
            CallRetried(attempt=1, delay=0.5, error="cut"),
            {"type": "retry", "attempt": 1, "delay": 0.5, "error": "cut"},
        ),
    ],
)
def test_programs_get_what_is_streamed_one_document_a_line(
    delta: Delta, shape: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    view_for(as_json=True).on_delta(TURN, delta)

    assert json.loads(capsys.readouterr().out) == {**shape, "turn_id": TURN}


def test_programs_get_events_and_then_the_turn(capsys: pytest.CaptureFixture[str]) -> None:
    view = view_for(as_json=True)

    view.on_event(TURN, NewEvent(kind="turn.completed", body={"a": 1}))
    code = view.outcome([turn(TurnStatus.COMPLETED, result="done")])

    event, ended = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert code == 0
    assert event == {
        "type": "event",
        "turn_id": TURN,
        "kind": "turn.completed",
        "body": {"a": 1},
    }
    assert (ended["type"], ended["turn"]["result"]) == ("turn", "done")


def test_programs_get_stored_events_with_their_id_and_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    event = Event(id=7, turn_id=TURN, kind="turn.started", body={}, at=NOON)

    view_for(as_json=True).follow([Look(turns=[turn(TurnStatus.RUNNING)], events=[event])])

    assert json.loads(capsys.readouterr().out) == {
        "type": "event",
        "id": 7,
        "turn_id": TURN,
        "kind": "turn.started",
        "body": {},
        "at": NOON.isoformat(),
    }


def test_notices_are_for_people_and_stay_out_of_the_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view_for(as_json=True).notice("[offline]")
    view_for(as_json=False).notice("[offline]")

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "[offline]\n[offline]\n"


def test_people_get_the_result_alone_on_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = view_for(as_json=False).outcome(
        [turn(TurnStatus.COMPLETED, result="[b]done\x1b[2J[/b]")]
    )

    out, err = capsys.readouterr()
    assert (code, out) == (0, "[b]done[/b]\n")
    assert err == (
        "completed · 2.0s · 2 model requests · 1 tool execution · "
        "1,200 tokens in (300 from cache), 45 out · $0.0312 · turn_1\n"
    )


def test_people_get_the_reason_of_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    error = TurnError(code="limit", message="limits.timeout: its time is over")

    code = view_for(as_json=False).outcome([turn(TurnStatus.FAILED, error=error)])

    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("error: turn turn_1 failed (limit): limits.timeout: its time is over\n")


def test_a_cancelled_turn_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    code = view_for(as_json=False).outcome([turn(TurnStatus.CANCELLED)])

    assert code == 1
    assert "error: turn turn_1 is cancelled\n" in capsys.readouterr().err


def test_a_turn_that_was_handed_back_says_how_it_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = view_for(as_json=False).outcome([turn(TurnStatus.PENDING)])

    err = capsys.readouterr().err
    assert code == 130
    assert "turn_1 keeps its committed steps" in err
    assert "`runner watch turn_1`" in err


def test_a_chat_repeats_no_answer_that_was_streamed(capsys: pytest.CaptureFixture[str]) -> None:
    view = view_for(as_json=False, chat=True)
    view.look_up_in(Stored())

    with view.working():
        view.on_delta(TURN, TextDelta(text="Hello"))
    view.outcome([turn(TurnStatus.COMPLETED, result="Hello")])

    assert capsys.readouterr() == ("Hello\n", "")


def test_people_who_follow_see_retries_and_calls(capsys: pytest.CaptureFixture[str]) -> None:
    view = view_for(as_json=False)
    view.look_up_in(Stored())
    ended: JsonObject = {"execution_id": "exec_1", "tool": "look_up", "status": "completed"}
    retried: JsonObject = {"attempt": 1, "delay": 0.5, "error": "cut"}

    view.follow(
        Look(turns=[turn(TurnStatus.RUNNING)], events=[event])
        for event in (
            Event(id=1, turn_id=TURN, kind="model.retried", body=retried, at=NOON),
            Event(id=2, turn_id=TURN, kind="tool_call.ended", body=ended, at=NOON),
        )
    )

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "↻ attempt 1 failed: cut; trying again in 0.5s\n✓ look_up\n"


def test_a_retry_here_is_shown_once_although_its_event_follows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = view_for(as_json=False)
    view.look_up_in(Stored())

    view.on_delta(TURN, CallRetried(attempt=1, delay=0.5, error="cut"))
    view.on_event(TURN, NewEvent(kind="model.retried", body={"attempt": 1}))

    assert capsys.readouterr().err.count("attempt 1") == 1


def test_the_outcome_counts_what_the_whole_tree_took_and_what_is_left_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    below = turn(TurnStatus.RUNNING, turn_id=TurnId("turn_2"), parent=TURN)

    code = view_for(as_json=False).outcome([turn(TurnStatus.COMPLETED, result="done"), below])

    assert code == 0
    assert capsys.readouterr().err == (
        "completed · 2.0s · 2 turns · 4 model requests · 2 tool executions · "
        "2,400 tokens in (600 from cache), 90 out · $0.0624 · turn_1\n"
        "1 turn below it has not ended; see `runner show turn_1`\n"
    )


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (TurnStatus.WAITING, 130, "`runner watch turn_1`"),
        (TurnStatus.PAUSED, 1, "is paused; let it go on with `runner resume turn_1`"),
        (TurnStatus.STALE, 1, "hand it to the workers with `runner resume turn_1`"),
    ],
)
def test_a_turn_that_stopped_on_its_way_says_what_can_be_done(
    status: TurnStatus, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert view_for(as_json=False).outcome([turn(status)]) == code

    assert said in capsys.readouterr().err


class Crowded(StringIO):
    """A stream at which every writer lets others go first."""

    @override
    def write(self, text: str) -> int:
        os.sched_yield()
        return super().write(text)


def test_documents_of_turns_side_by_side_stay_whole() -> None:
    view = view_for(as_json=True)
    event = NewEvent(kind="turn.completed")

    with redirect_stdout(Crowded()) as stream, ThreadPoolExecutor(max_workers=8) as threads:
        for _ in range(500):
            threads.submit(view.on_event, TURN, event)

    shown = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [one["kind"] for one in shown] == ["turn.completed"] * 500


def test_where_nothing_was_asked_nothing_is_said_of_a_cost() -> None:
    unasked = replace(turn(TurnStatus.CANCELLED), usage=Usage(), cost=Cost())

    assert consumption([unasked]).endswith("0 tokens in, 0 out")
