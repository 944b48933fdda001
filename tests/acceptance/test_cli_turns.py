"""The commands about turns: run, submit, preview, ps, show, watch, messages."""

from collections.abc import Iterator

import pytest

from runner.bootstrap.runner import Runner
from runner.cli.main import main
from tests.program import Program, untimed


@pytest.fixture
def runner(program: Program) -> Iterator[Runner]:
    """The Python API of the same project."""
    with Runner(program.root / "config.yaml") as runner:
        yield runner


def test_a_task_is_run_and_its_result_is_the_output(program: Program) -> None:
    done = program.run("run", "hello", "good morning")

    assert (done.code, done.out) == (0, "Hello! You said: good morning\n")
    assert done.err.startswith("completed · ")


def test_tools_are_shown_as_they_end(clerk: Program) -> None:
    done = clerk.run("run", "clerk", "Note it.", "--input", '{"name": "Ada"}')

    assert (done.code, done.out) == (0, "shopping.txt is saved.\n")
    assert untimed(done.err)[:-1] == [
        "I note it.",
        '✗ note {"text":"nothing"}  failed: ValueError: there is nothing [red]to note[/red]',
        '✓ note {"text":"milk"}',
        '✓ save {"name":"shopping.txt"}',
    ]


def test_tools_can_read_the_context(clerk: Program) -> None:
    clerk.write("input.json", '{"name": "Ada"}')
    source = f"@{clerk.root / 'input.json'}"

    done = clerk.run(
        "run", "clerk", "Note it.", "--input", source, "--context", '{"pen": "ink"}', "--json"
    )

    shown = clerk.run("show", done.documents[-1]["turn"]["id"], "--json").document
    assert shown["turn"]["context"] == {"pen": "ink"}
    assert shown["executions"][1]["result"] == {"result": "ink milk"}


def test_programs_get_what_happens_as_it_happens_and_then_the_turn(clerk: Program) -> None:
    done = clerk.run("run", "hello", "stumble", "--json")

    *before, last = done.documents
    assert done.code == 0
    assert {one["type"] for one in before} == {"event", "retry", "text"}
    assert "".join(one["text"] for one in before if one["type"] == "text") == "Up again."
    assert (last["type"], last["turn"]["status"]) == ("turn", "completed")
    assert last["turn"]["ended_at"] is not None


def test_a_failed_turn_is_an_error_with_its_code(clerk: Program) -> None:
    done = clerk.run("run", "hello", "fail")

    assert (done.code, done.out) == (1, "")
    assert " failed (model_rejected): " in done.err
    assert done.err.startswith("error: turn turn_")


def test_programs_get_the_error_of_a_failed_turn(clerk: Program) -> None:
    done = clerk.run("run", "hello", "fail", "--json")

    assert done.code == 1
    assert done.documents[-1]["turn"]["error"]["code"] == "model_rejected"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["nobody", "x"], 1, "there is no agent 'nobody'", id="unknown-agent"),
        pytest.param(["hello"], 2, "the task is empty", id="no-task"),
        pytest.param(["clerk", "x"], 2, "takes it with --input", id="no-input"),
        pytest.param(["hello", "x", "--input", "1"], 2, "takes no input", id="input-unasked-for"),
        pytest.param(["clerk", "x", "--input", "{"], 2, "--input is not JSON", id="no-json"),
        pytest.param(["clerk", "x", "--input", "@no.json"], 1, "no.json: no such", id="no-file"),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_stored(
    clerk: Program, arguments: list[str], code: int, said: str
) -> None:
    done = clerk.run("run", *arguments)

    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert clerk.run("ps", "--json").document == []


def test_scripted_answers_in_place_of_a_model_are_announced(program: Program) -> None:
    program.write("agents/hello.yaml", "description: Greets.\nmodel: cloud\n")

    done = program.run("run", "hello", "hi")

    assert done.code == 0
    assert done.err.startswith(
        "offline: 'offline' answers from scripts; "
        "set RUNNER_TESTS_HAVE_NO_KEY to let 'anthropic' answer\n"
    )


def test_a_model_named_by_its_client_is_announced_alike(program: Program) -> None:
    program.write("agents/hello.yaml", "description: Greets.\nmodel: anthropic/claude-1\n")

    assert program.run("run", "hello", "hi").err.startswith("offline: ")


def test_turns_are_listed_newest_first(clerk: Program) -> None:
    clerk.run("run", "hello", "fail")
    clerk.run("run", "hello", "two")
    clerk.run("submit", "hello", "three")

    lines = clerk.run("ps").out.splitlines()

    assert lines[0].split() == [
        *("TURN", "STATUS", "AGE", "AGENT", "ITER", "TOOLS", "BELOW", "COST", "PHASE"),
        "CONVERSATION",
    ]
    assert [line.split()[1] for line in lines[1:]] == ["pending", "completed", "failed"]


def test_turns_are_chosen_by_status_agent_and_number(clerk: Program) -> None:
    for task in ("one", "two", "fail"):
        clerk.run("run", "hello", task)
    clerk.run("submit", "hello", "three")

    def listed(*arguments: str) -> list[str]:
        return [turn["status"] for turn in clerk.run("ps", "--json", *arguments).document]

    assert listed("--status", "failed", "--status", "pending") == ["pending", "failed"]
    assert listed("--limit", "2") == ["pending", "failed"]
    assert listed("--limit", "2", "--all") == ["pending", "failed", "completed", "completed"]
    assert listed("--agent", "clerk") == []
    assert clerk.run("ps", "--agent", "clerk").out == "there are no such turns\n"


def test_without_turns_it_is_said_so(program: Program) -> None:
    assert program.run("ps").out == "there are no turns yet\n"


def test_everything_about_a_turn_is_shown(clerk: Program) -> None:
    arguments = ("Note it.", "--input", '{"name": "Ada"}', "--context", '{"pen": "ink"}')
    clerk.run("run", "clerk", *arguments)
    (turn,) = clerk.run("ps", "--json").document

    done = clerk.run("show", turn["id"])

    assert done.code == 0
    for part in (
        f"{turn['id']}  completed",
        "clerk (task)",
        turn["conversation_id"],
        '{"pen":"ink"}',
        "  shopping.txt is saved.",
        "1. note failed",
        '→ {"text":"milk"}',
        '← {"result":"ink milk"}',
        "turn.started",
        "turn.completed",
    ):
        assert part in done.out
    assert "\x1b" not in done.out


def test_programs_get_everything_about_a_turn(clerk: Program) -> None:
    clerk.run("run", "clerk", "Note it.", "--input", '{"name": "Ada"}')
    (turn,) = clerk.run("ps", "--json").document

    shown = clerk.run("show", turn["id"], "--json").document

    assert shown["turn"] == turn
    assert [one["status"] for one in shown["executions"]] == ["failed", "completed", "completed"]
    assert shown["executions"][2]["result"] == {"saved": "shopping.txt"}
    assert shown["events"][-1]["kind"] == "turn.completed"


def test_a_failed_turn_and_one_that_waits_are_shown(clerk: Program) -> None:
    clerk.run("run", "hello", "fail")
    clerk.run("submit", "hello", "later")
    waiting, failed = clerk.run("ps", "--json").document

    assert "error: model_rejected" in clerk.run("show", failed["id"]).out
    assert "phase        model" in clerk.run("show", waiting["id"]).out


def test_a_conversation_is_shown_message_by_message(clerk: Program) -> None:
    clerk.run("run", "clerk", "Note it.", "--input", '{"name": "Ada"}')
    (turn,) = clerk.run("ps", "--json").document

    done = clerk.run("messages", turn["conversation_id"])

    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[:2] == ["#1 user", "  Note it."]
    assert "#3 clerk" in lines
    assert '  → note {"text":"nothing"}' in lines
    assert any(line.startswith('  save: {"saved":') for line in lines)
    assert "\x1b" not in done.out


def test_thinking_and_messages_that_wait_are_shown(clerk: Program) -> None:
    clerk.run("run", "hello", "one")
    (turn,) = clerk.run("ps", "--json").document
    clerk.run("submit", "hello", "two", "--conversation", turn["conversation_id"])

    lines = clerk.run("messages", turn["conversation_id"]).out.splitlines()

    assert "  Somebody is there." in lines
    assert lines[-3:] == ["waits user", "  two", ""]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "turn_0"],
        ["watch", "turn_0"],
        ["submit", "--turn", "turn_0"],
        ["preview", "--turn", "turn_0"],
        ["messages", "conv_0"],
        ["submit", "hello", "x", "--conversation", "conv_0"],
        ["chat", "hello", "--conversation", "conv_0"],
    ],
    ids=" ".join,
)
def test_what_is_not_stored_is_not_found(program: Program, arguments: list[str]) -> None:
    done = program.run(*arguments)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: there is no ")


def test_a_turn_that_has_ended_can_be_watched(clerk: Program) -> None:
    ran = clerk.run("run", "clerk", "Note it.", "--input", '{"name": "Ada"}')
    (turn,) = clerk.run("ps", "--json").document

    watched = clerk.run("watch", turn["id"])

    assert (watched.code, watched.out) == (0, ran.out)
    assert untimed(watched.err)[:-1] == untimed(ran.err)[:-1]


def test_a_prepared_turn_is_not_waited_for(program: Program) -> None:
    turn_id = program.run("submit", "hello", "hi", "--prepare").out.strip()

    done = program.run("watch", turn_id)

    assert done.code == 2
    assert f"`runner submit --turn {turn_id}`" in done.err


def test_programs_can_watch(clerk: Program) -> None:
    clerk.run("run", "hello", "fail")
    (turn,) = clerk.run("ps", "--json").document

    watched = clerk.run("watch", turn["id"], "--json")

    assert watched.code == 1
    assert [one["kind"] for one in watched.documents[:-1]][-1] == "turn.failed"
    assert (watched.documents[-1]["type"], watched.documents[-1]["turn"]) == ("turn", turn)


def test_a_runner_and_the_commands_see_the_same_turns(program: Program, runner: Runner) -> None:
    turn = runner.run("hello", "from Python")

    assert program.run("show", turn.id, "--json").document["turn"]["result"] == turn.result


def test_the_embedded_default_needs_no_config(program: Program) -> None:
    (program.root / "config.yaml").unlink()
    program.write("agents/hello.yaml", "description: Greets.\nmodel: offline/any\n")

    done = program.run_apart("run", "hello", "hi")

    assert done.code == 0
    assert "no model was asked" in done.out
    assert (program.root / "runner.db").exists()


def test_the_program_can_be_called_again_in_one_process() -> None:
    assert [main(["--version"]) for _ in range(2)] == [0, 0]
