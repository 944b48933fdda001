"""What a person sees when something is broken: one sentence, an exit code, nothing lost."""

import json
import signal
import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests.program import Program

SLOW = """\
- agent: hello
  answers:
    - {text: One., stop: pause}
    - {text: Two., delay: 10m}
"""


@pytest.mark.parametrize(
    "arguments", [["ps"], ["run", "hello", "hi"], ["submit", "hello", "hi"], ["worker"]], ids=str
)
def test_an_unreachable_database_is_one_sentence_without_its_password(
    program: Program, arguments: list[str]
) -> None:
    url = "postgresql://ada:swordfish@127.0.0.1:1/none"
    program.configure(f"database: {{url: '{url}'}}\n")

    done = program.run_apart(*arguments)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "127.0.0.1" in done.err
    assert "swordfish" not in done.err


def test_a_locked_database_is_one_sentence_and_nothing_is_half_stored(program: Program) -> None:
    program.configure("database: {busy_timeout: 200ms}\n")
    program.run("ps")
    file = program.root / "runner.db"

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = program.run("submit", "hello", "hi")
        other.execute("ROLLBACK")

    assert (done.code, done.out) == (1, "")
    assert "locked" in done.err
    assert done.err.count("\n") == 1
    assert program.run("ps", "--json").document == []


def test_a_submission_is_safe_with_the_broker_down(program: Program) -> None:
    program.configure("broker: {url: 'redis://127.0.0.1:1'}\n")

    done = program.run("submit", "hello", "hi")

    assert done.code == 0
    assert done.err.startswith("warning: stored, and found by workers in time, but none")
    (turn,) = program.run("ps", "--json").document
    assert (turn["id"], turn["status"]) == (done.out.strip(), "pending")


def test_a_missing_key_says_what_to_set(program: Program) -> None:
    program.write(
        "config.yaml", 'clients: {anthropic: {type: anthropic, api_key: "${NO_SUCH_KEY:-}"}}\n'
    )

    done = program.run("run", "hello", "hi")

    assert (done.code, done.out) == (1, "")
    assert "api_key" in done.err
    assert "Traceback" not in done.err


def test_definitions_with_mistakes_run_nothing(program: Program) -> None:
    program.write("agents/mistaken.yaml", "nmae: x\n")

    done = program.run("run", "hello", "hi")

    assert (done.code, done.out) == (1, "")
    assert "run `runner validate`" in done.err.replace("'", "`")
    assert not (program.root / "runner.db").exists()


def test_an_id_that_is_no_text_is_the_id_of_nothing(program: Program) -> None:
    done = program.run("show", "turn_\udcff\x00")

    assert (done.code, done.out) == (1, "")
    assert done.err == "error: there is no turn 'turn_\ufffd\ufffd'; `runner ps` lists them\n"


def test_with_debug_a_failure_has_its_traceback(program: Program) -> None:
    done = program.run_apart("show", "turn_0", environ={"RUNNER_DEBUG": "1"})

    assert done.code == 1
    assert "Traceback" in done.err


def interrupt_when(kind: str, command: subprocess.Popen[str]) -> tuple[str, str]:
    """Press ctrl-c once *command* has printed such an event, and return what it printed then."""
    assert command.stdout is not None
    next(line for line in iter(command.stdout.readline, "") if json.loads(line).get("kind") == kind)
    command.send_signal(signal.SIGINT)
    return command.communicate(timeout=60)


def test_ctrl_c_hands_the_turn_back_with_what_it_has_done(program: Program) -> None:
    program.write("script.yaml", SLOW)
    running = program.start("run", "hello", "hi", "--json")

    out, _ = interrupt_when("model.responded", running)

    turn = json.loads(out.splitlines()[-1])["turn"]
    assert running.returncode == 130
    assert turn["status"] == "pending"
    shown = program.run("messages", turn["conversation_id"]).out
    assert "  One." in shown.splitlines()


def test_ctrl_c_while_looking_only_stops_looking(program: Program) -> None:
    program.write("script.yaml", SLOW)
    interrupt_when("model.responded", program.start("run", "hello", "hi", "--json"))
    (turn,) = program.run("ps", "--json").document
    watching = program.start("watch", turn["id"], "--json")

    _, err = interrupt_when("turn.released", watching)

    assert watching.returncode == 130
    assert err == f"the turn goes on; look again with `runner watch {turn['id']}`\n"
    assert program.run("ps", "--json").document == [turn]


TREE_SLOW = """\
- agent: hello
  answers:
    - tool_calls: [{name: scout, arguments: {task: Look.}}]
    - text: Done.
- agent: scout
  answers:
    - {text: One., stop: pause}
    - {text: Two., delay: 10m}
"""


def test_ctrl_c_hands_back_the_turns_below_too(program: Program) -> None:
    program.write("agents/scout.yaml", "description: Looks.\nmodel: default\n")
    program.write("agents/hello.yaml", "description: .\nmodel: default\nsub_agents: [scout]\n")
    program.write("script.yaml", TREE_SLOW)
    running = program.start("run", "hello", "hi", "--json")

    interrupt_when("sub_agent.started", running)

    assert running.returncode == 130
    listed = program.run("ps", "--tree", "--json").document
    assert [(one["agent"], one["status"]) for one in listed] == [
        ("hello", "waiting"),
        ("scout", "pending"),
    ]
