"""The chat, with lines piped in and at a terminal."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.program import Program
from tests.terminal import Terminal

SCRIPT = """\
- agent: hello
  when: fail
  answers:
    - error: {kind: rejected}
- agent: hello
  answers:
    - text: "You said: {task}"
"""


@pytest.fixture(autouse=True)
def script(program: Program) -> None:
    program.write("script.yaml", SCRIPT)


def test_lines_are_answered_one_by_one_in_one_conversation(program: Program) -> None:
    done = program.run_apart("chat", "hello", typed="one\n\n  \ntwo\n")

    assert (done.code, done.out) == (0, "You said: one\nYou said: two\n")
    first, second = program.run("ps", "--json").document
    assert first["conversation_id"] == second["conversation_id"]
    assert f"--conversation {first['conversation_id']}" in done.err


def test_a_conversation_goes_on(program: Program) -> None:
    program.run_apart("chat", "hello", typed="one\n")
    (turn,) = program.run("ps", "--json").document

    done = program.run_apart(
        "chat", "hello", "--conversation", turn["conversation_id"], typed="two\n/quit\nthree\n"
    )

    assert (done.code, done.out) == (0, "You said: two\n")
    shown = program.run("messages", turn["conversation_id"], "--json").document
    said = [one["parts"][0]["text"] for one in shown if one["role"] == "user"]
    assert said == ["one", "two"]


def test_a_failed_turn_leaves_the_conversation_usable_and_fails_in_the_end(
    program: Program,
) -> None:
    done = program.run_apart("chat", "hello", typed="fail\ntwo\n")

    assert (done.code, done.out) == (1, "You said: two\n")
    assert " failed (model_rejected): " in done.err


def test_a_busy_conversation_is_an_error_and_the_chat_goes_on(program: Program) -> None:
    waiting = program.run("submit", "hello", "first", "--json").document

    done = program.run_apart(
        "chat", "hello", "--conversation", waiting["conversation_id"], typed="two\n"
    )

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert waiting["conversation_id"] in done.err


def test_programs_get_one_document_a_line(program: Program) -> None:
    done = program.run_apart("chat", "hello", "--json", typed="one\ntwo\n")

    turns = [one["turn"] for one in done.documents if one["type"] == "turn"]
    assert done.code == 0
    assert [turn["result"] for turn in turns] == ["You said: one", "You said: two"]


def test_bytes_that_are_no_text_do_not_end_the_chat(program: Program) -> None:
    chatting = program.start("chat", "hello")
    assert chatting.stdin is not None
    os.write(chatting.stdin.fileno(), b"a\xffb\n")

    out, _ = chatting.communicate(timeout=60)

    assert (chatting.returncode, out) == (0, "You said: a\ufffdb\n")


def test_no_line_is_no_conversation(program: Program) -> None:
    done = program.run_apart("chat", "hello", typed="")

    assert (done.code, done.out, done.err) == (0, "", "")


def test_stand_in_answers_are_announced(program: Program) -> None:
    program.write("agents/hello.yaml", "description: Greets.\nmodel: cloud\n")

    done = program.run_apart("chat", "hello", typed="one\n")

    assert done.code == 0
    assert done.err.startswith("offline: ")


@pytest.fixture
def chat(program: Program) -> Iterator[Terminal]:
    """A chat at a terminal."""
    terminal = Terminal(program, "chat", "hello")
    yield terminal
    terminal.close()


def test_a_person_is_prompted_and_leaves_with_ctrl_d(chat: Terminal) -> None:
    chat.read_until("> ")
    chat.type("fail\n")
    chat.read_until("> ")
    chat.type("one\n")
    chat.read_until("You said: one")
    chat.read_until("> ")
    chat.type("\x04")
    code = chat.read_to_the_end()

    assert code == 0
    assert "go on with: runner chat hello --conversation conv_" in chat.shown


def test_a_person_may_leave_with_ctrl_c(chat: Terminal) -> None:
    chat.read_until("> ")
    chat.process.send_signal(signal.SIGINT)
    # The prompt may not have begun to wait: a signal that comes before is seen with the next key.
    chat.type("\n")
    code = chat.read_to_the_end()

    assert code == 130
    assert "Traceback" not in chat.shown
