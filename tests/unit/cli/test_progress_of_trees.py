"""Progress of a turn with others below it, and of what people do to it."""

from dataclasses import replace

import pytest

from runner.cli.outcome import consumption
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role, Text
from runner.core.model import ThinkingDelta
from runner.core.records import TurnError
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import TURN, execution, message, turn
from tests.unit.cli.stage import CHILD, OTHER, Stage, family


def test_lines_of_turns_below_are_moved_in_and_begin_with_their_agent() -> None:
    stage = Stage()
    family(stage, TurnStatus.COMPLETED, TurnStatus.RUNNING)
    stage.stored.all_executions = [execution("exec_1", "scout", {"task": "Look."})]

    stage.event("sub_agent.started", execution_id="exec_1", turn_id=CHILD, agent="scout")
    stage.say("One.\nTwo.", of=CHILD)
    stage.event("tool_call.ended", of=CHILD, execution_id="e", tool="look_up", status="completed")
    stage.event("tool_call.ended", of=OTHER, execution_id="e", tool="look_up", status="completed")
    stage.event("turn.completed", of=CHILD)

    assert stage.lines == [
        '▸ scout {"task":"Look."}  turn_2',
        "  scout  One.",
        "  scout  Two.",
        "  scout  ✓ look_up",
        "  scout 2  ✓ look_up",
        f"  scout  completed · {consumption([turn(TurnStatus.COMPLETED)])}",
    ]


def test_the_answer_of_a_turn_below_is_its_parents_and_not_told() -> None:
    stage = Stage()
    family(stage, TurnStatus.COMPLETED)

    stage.event("turn.started")
    stage.say("The answer.", of=CHILD)
    stage.event("message.created", of=CHILD, role="assistant", message_id="msg_1")
    stage.event("turn.completed", of=CHILD)

    assert "The answer." not in stage.shown


def test_a_turn_below_that_failed_says_why() -> None:
    stage = Stage()
    error = TurnError(code="limit", message="limits.timeout: its time\nis over")
    failed = turn(TurnStatus.FAILED, turn_id=CHILD, parent=TURN, agent="scout", error=error)
    stage.stored.turns = [turn(TurnStatus.WAITING), failed]

    stage.event("turn.started")
    stage.say("I shall", of=CHILD)
    stage.event("turn.failed", of=CHILD)

    assert stage.lines[0] == "  scout  I shall"
    assert stage.lines[1].startswith(
        "  scout  failed (limit): limits.timeout: its time is over · 2.0s"
    )


def test_what_a_turn_waits_for_otherwise_is_a_call_that_has_begun() -> None:
    stage = Stage()
    stage.stored.all_executions = [execution("exec_1", "wait_for", {"turn_ids": "turn_9"})]

    stage.event("turn.waiting", execution_id="exec_1")

    assert stage.lines == ['▸ wait_for {"turn_ids":"turn_9"}']


def test_how_long_others_worked_is_theirs_to_tell() -> None:
    stage = Stage()

    stage.event("sub_agent.started", at=10, execution_id="exec_1", turn_id=CHILD, agent="scout")
    stage.event("tool_call.ended", at=19, execution_id="exec_1", tool="scout", status="completed")

    assert stage.lines[-1] == "✓ scout"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("turn.pause_requested", "‖ asked to pause"),
        ("turn.paused", "‖ paused; `runner resume turn_1` lets it go on"),
        ("turn.unpaused", "▸ goes on"),
        ("turn.stale", "? its process died; `runner resume turn_1` hands it to the workers"),
        ("turn.cancel_requested", "- asked to cancel"),
    ],
)
def test_what_people_do_to_a_turn_is_a_line(kind: str, line: str) -> None:
    stage = Stage()

    stage.event(kind)

    assert stage.lines == [line]


def test_an_input_is_told_when_it_comes_and_when_it_is_read() -> None:
    stage = Stage()
    stage.stored.all_messages = [message("msg_1", [Text(text="Be\nbrief.")], role=Role.USER)]

    stage.event("turn.steered", input_id="input_1", position=1)
    stage.event("turn.steered", input_id="input_1", message_id="msg_1")

    assert stage.lines == ["» input is queued", "» new input: Be brief."]


def test_a_chat_streams_no_text_of_the_turns_below() -> None:
    stage = Stage(chat=True)
    family(stage, TurnStatus.RUNNING)

    stage.say("I ask.")
    stage.say("Found it.", of=CHILD)
    stage.event("tool_call.started", of=CHILD, execution_id="exec_1", tool="look_up")

    assert stage.text == "I ask."
    assert stage.lines == ["  scout  Found it."]


def test_a_terminal_shows_the_tree_and_what_each_turn_is_busy_with() -> None:
    stage = Stage(terminal=True)
    family(stage, TurnStatus.RUNNING)

    stage.event("turn.started")
    stage.progress.on_delta(CHILD, ThinkingDelta(text="hm"))
    stage.progress.look()
    stage.event("tool_call.started", of=CHILD, execution_id="exec_1", tool="look_up")
    stage.progress.stop()

    assert "thinking" in stage.shown
    assert "look_up" in stage.shown
    assert stage.plain_lines[-2].split()[:3] == ["└─", "▸", "scout"]
    assert stage.plain_lines[-1].split()[:4] == ["whole", "tree", "2", "turns"]


def test_a_terminal_that_shows_a_single_turn_is_left_as_it_was() -> None:
    stage = Stage(terminal=True)

    stage.event("turn.started")
    stage.progress.look()
    stage.progress.stop()

    assert stage.shown.endswith("\x1b[2K")


def test_a_tree_that_cannot_be_looked_up_now_is_shown_as_it_was() -> None:
    stage = Stage(terminal=True)
    stage.event("turn.started")
    stage.stored.is_down = True

    stage.progress.look()
    stage.progress.stop()

    assert "working" in stage.shown


def test_a_file_looks_nothing_up_that_it_does_not_show() -> None:
    stage = Stage()
    stage.event("turn.started")
    stage.stored.is_down = True

    stage.progress.look()

    assert stage.lines == []


def test_a_call_that_somebody_has_to_approve_is_told_with_how_to_answer() -> None:
    stage = Stage()
    stage.stored.all_executions = [execution("exec_1", "refund", {"to": "Ada"})]
    asked: JsonObject = {"approval_id": "appr_1", "execution_id": "exec_1", "tool": "refund"}

    for reason in ("Large refund.", ""):
        stage.progress.on_event(TURN, "approval.requested", {**asked, "reason": reason}, at=0)
    stage.event("approval.answered", tool="refund", answer="denied", reason="No.")
    stage.event("approval.answered", tool="refund", answer="expired", reason=None)
    by: JsonObject = {"tool": "refund", "answer": "approved", "answered_by": {"user": "ada"}}
    stage.progress.on_event(TURN, "approval.answered", by, at=0)

    how = "answer with `runner approve appr_1` or `runner deny appr_1 --reason …`"
    assert stage.lines == [
        '◆ asks for approval: refund {"to":"Ada"} (Large refund.)',
        how,
        '◆ asks for approval: refund {"to":"Ada"}',
        how,
        "◆ denied: refund: No.",
        "◆ expired: refund",
        '◆ approved by {"user":"ada"}: refund',
    ]


def test_nothing_moves_on_a_terminal_while_a_person_is_asked() -> None:
    stage = Stage(terminal=True)
    stage.stored.turns = [replace(turn(TurnStatus.WAITING), open_approvals=1)]
    stage.event("turn.started")
    stage.progress.look()

    with stage.progress.held():
        before = len(stage.shown)
        stage.progress.wait_for("working")
        assert len(stage.shown) == before

    assert stage.progress.asking == [TURN]
    stage.progress.wait_for("working")
    assert len(stage.shown) > before
    stage.progress.stop()
