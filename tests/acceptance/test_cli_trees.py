"""The commands about turns that work together: trees, messages, waits, controls."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from runner.cli.text import plain
from tests.program import Program, untimed
from tests.terminal import Terminal
from tests.waiting import until

EDITOR = """\
name: editor
description: Has others look things up.
model: default
instructions: Delegate.
sub_agents: [scout]
tools: [launch_agent]
"""
SCOUT = """\
name: scout
description: Looks things up.
model: default
instructions: Look.
tools: [{name: look_up, python: "notes:look_up"}]
"""
NOTES = '''\
"""Tools of the tests."""


def look_up(name: str) -> str:
    """Look something up."""
    return f"about {name}"
'''
SCRIPT = """\
- agent: editor
  when: launch
  answers:
    - tool_calls: [{name: launch_agent, arguments: {agent: scout, task: "later", callback: true}}]
    - text: It is under way.
- agent: editor
  when: <message
  answers: [{text: "I have read it."}]
- agent: editor
  answers:
    - text: I have both looked up.
      tool_calls:
        - {name: scout, arguments: {task: "Ada"}}
        - {name: scout, arguments: {task: "fail"}}
    - text: One of two.
- agent: scout
  when: fail
  answers: [{error: {kind: rejected}}]
- agent: scout
  answers:
    - tool_calls: [{name: look_up, arguments: {name: Ada}}]
    - text: Found her.
- agent: hello
  answers: [{text: "You said: {task}"}]
"""


@pytest.fixture(autouse=True)
def project(program: Program) -> None:
    program.write("agents/editor.yaml", EDITOR)
    program.write("agents/scout.yaml", SCOUT)
    program.write("python/notes.py", NOTES)
    program.write("script.yaml", SCRIPT)


@contextmanager
def working(program: Program) -> Iterator[None]:
    """Have a worker for a while."""
    worker = program.start("worker", "--threads", "2")
    try:
        yield
    finally:
        worker.terminate()
        worker.communicate(timeout=60)


def submitted(program: Program, *arguments: str) -> str:
    """Submit a task and return its turn's id."""
    return program.run("submit", *(arguments or ("hello", "hi"))).out.strip()


def status_of(program: Program, turn_id: str) -> str:
    status: str = program.run("show", turn_id, "--json").document["turn"]["status"]
    return status


def conversation_of(program: Program, turn_id: str) -> str:
    turn = program.run("show", turn_id, "--json").document["turn"]
    conversation_id: str = turn["conversation_id"]
    return conversation_id


def assert_tells_of_the_tree(lines: list[str]) -> None:
    assert lines[0] == "I have both looked up."
    assert [line.rpartition("  ")[0] for line in lines[1:3]] == [
        '▸ scout {"task":"Ada"}',
        '▸ scout {"task":"fail"}',
    ]
    assert '  scout  ✓ look_up {"name":"Ada"}' in lines
    assert any(line.startswith("  scout  completed · ") for line in lines)
    assert any(line.startswith("  scout 2  failed (model_rejected): ") for line in lines)
    assert lines[-3] == '✓ scout {"task":"Ada"}'
    assert lines[-2].startswith('✗ scout {"task":"fail"}  failed: ')
    assert " · 3 turns · " in lines[-1]


def test_a_run_tells_of_the_turns_below_it(program: Program) -> None:
    done = program.run("run", "editor", "Write.")

    assert (done.code, done.out) == (0, "One of two.\n")
    assert_tells_of_the_tree(untimed(done.err))


def test_a_tree_that_workers_run_is_watched_to_the_end_of_its_root(program: Program) -> None:
    with working(program):
        done = program.run("submit", "editor", "Write.", "--wait")

    assert (done.code, done.out) == (0, "One of two.\n")
    assert_tells_of_the_tree(untimed(done.err))


def test_programs_get_the_events_of_the_whole_tree(program: Program) -> None:
    program.run("run", "editor", "Write.")
    (root,) = program.run("ps", "--json").document

    watched = program.run("watch", root["id"], "--json").documents

    tree = program.run("show", root["id"], "--json").document
    ids = {root["id"], *(turn["id"] for turn in tree["below"])}
    assert {one["turn_id"] for one in watched[:-1]} == ids
    assert [one["id"] for one in watched[:-1]] == sorted(one["id"] for one in watched[:-1])
    assert (watched[-1]["type"], watched[-1]["turn"]) == ("turn", root)


def test_a_part_of_a_tree_can_be_watched(program: Program) -> None:
    program.run("run", "editor", "Write.")
    failed = program.run("ps", "--agent", "scout", "--status", "failed", "--json").document[0]

    done = program.run("watch", failed["id"])

    assert done.code == 1
    assert done.err.startswith(f"error: turn {failed['id']} failed (model_rejected): ")


def test_a_person_sees_the_tree_as_it_ended(program: Program) -> None:
    program.run("run", "editor", "Write.")
    (root,) = program.run("ps", "--json").document
    terminal = Terminal(program, "watch", root["id"], NO_COLOR="1")

    code = terminal.read_to_the_end()

    terminal.close()
    assert code == 0
    for part in ("✓ editor", "├─ ✓ scout", "└─ ✗ scout 2", "TOKENS"):
        assert part in plain(terminal.shown)


def test_only_roots_are_listed_with_the_number_of_turns_below(program: Program) -> None:
    program.run("run", "editor", "Write.")
    program.run("run", "hello", "hi")

    lines = [line.split() for line in program.run("ps").out.splitlines()]

    assert [(line[3], line[6]) for line in lines[1:]] == [("hello", "0"), ("editor", "2")]


def test_turns_below_are_listed_beneath_their_root(program: Program) -> None:
    program.run("run", "editor", "Write.")

    lines = program.run("ps", "--tree").out.splitlines()

    listed = program.run("ps", "--tree", "--json").document
    assert [line.partition("turn_")[0] for line in lines[1:]] == ["", "├─ ", "└─ "]
    assert [turn["place"]["depth"] for turn in listed] == [0, 1, 1]
    assert {turn["place"]["parent_id"] for turn in listed[1:]} == {listed[0]["id"]}


def test_turns_are_found_wherever_in_a_tree_they_are(program: Program) -> None:
    program.run("run", "editor", "Write.")

    def agents(*arguments: str) -> list[str]:
        return [turn["agent"] for turn in program.run("ps", "--json", *arguments).document]

    assert agents("--agent", "scout") == ["scout", "scout"]
    assert agents("--status", "failed") == ["scout"]
    assert agents("--agent", "scout", "--tree") == []
    assert agents("--agent", "editor", "--tree") == ["editor", "scout", "scout"]


def test_everything_about_a_tree_is_shown(program: Program) -> None:
    program.run("run", "editor", "Write.")
    (root,) = program.run("ps", "--json").document

    shown, document = (
        program.run("show", root["id"]).out,
        program.run("show", root["id"], "--json").document,
    )

    first, second = document["below"]
    assert f"  ├─ scout  completed  {first['id']}" in shown
    assert f"  └─ scout  failed  {second['id']}" in shown
    assert "2 of 50 turns below it" in shown
    assert document["turn"]["tree"]["children"] == 2
    assert document["waits"] == [
        {"turn_id": one["id"], "status": one["status"], "execution_id": run["id"]}
        for one, run in zip(document["below"], document["executions"], strict=True)
    ]


def test_a_message_is_sent_once_however_often_and_answered(program: Program) -> None:
    conversation_id = conversation_of(program, submitted(program))
    message = ("send", conversation_id, "And now?", "--key", "now")

    first, again = program.run(*message), program.run(*message, "--json")

    assert first.code == 0
    assert f"runner watch {first.out.strip()}" in first.err
    assert again.document["turn_id"] == first.out.strip()
    assert program.run("inbox", conversation_id, "--json").document == [again.document]
    (heading, line) = program.run("inbox", conversation_id).out.splitlines()
    assert heading.split() == ["FROM", "ANSWERED", "BY", "AGE", "TEXT"]
    assert line.startswith(f"an application  {first.out.strip()}")


def test_a_key_of_another_message_is_refused(program: Program) -> None:
    conversation_id = conversation_of(program, submitted(program))
    program.run("send", conversation_id, "And now?", "--key", "now")

    done = program.run("send", conversation_id, "Secret.", "--key", "now")

    assert (done.code, done.out) == (1, "")
    assert done.err == "error: the key 'now' was used before for something else\n"


def test_a_callback_is_in_the_outbox_of_who_sent_it(program: Program) -> None:
    launched = program.run("run", "editor", "launch")
    (root,) = program.run("ps", "--json").document
    (below,) = program.run("show", root["id"], "--json").document["below"]
    with working(program):
        until(
            lambda: program.run("inbox", root["conversation_id"], "--json").document,
            "the callback",
        )

    assert "1 turn below it has not ended" in launched.err
    (heading, line) = program.run("outbox", below["conversation_id"]).out.splitlines()
    assert heading.split() == ["TO", "ANSWERED", "BY", "AGE", "TEXT"]
    assert line.startswith(f"{root['conversation_id']}  turn_")
    assert f"its end is told to {root['conversation_id']}" in program.run("show", below["id"]).out


def test_without_deliveries_it_is_said_so(program: Program) -> None:
    conversation_id = conversation_of(program, submitted(program))

    assert program.run("outbox", conversation_id).out == "there are no deliveries\n"


def test_a_task_waits_for_turns_and_its_end_is_told(program: Program) -> None:
    first = submitted(program)
    conversation_id = conversation_of(program, first)

    done = program.run(
        *("submit", "hello", "then", "--wait-for", first, "--wait-for", first),
        *("--callback", conversation_id),
    )

    shown = program.run("show", done.out.strip())
    assert "it waits for 1 turn" in done.err
    assert "  waits for    1 turn\n" in shown.out
    assert f"{first} pending before it starts" in shown.out
    assert f"its end is told to {conversation_id}" in shown.out
    with working(program):
        until(lambda: status_of(program, done.out.strip()) == "completed", "it to end")
        until(lambda: program.run("inbox", conversation_id, "--json").document, "the callback")


def test_a_turn_is_paused_and_resumed(program: Program) -> None:
    turn_id = submitted(program)

    paused, again = program.run("pause", turn_id), program.run("pause", turn_id, "--json")

    assert (paused.code, paused.out) == (0, f"{turn_id}  hello  paused\n")
    assert again.document == {
        "turns": [{"turn_id": turn_id, "state": "unchanged", "status": "paused"}]
    }
    assert f"`runner resume {turn_id}`" in program.run("show", turn_id).out
    resumed, more = program.run("resume", turn_id), program.run("resume", turn_id)
    assert resumed.out == f"{turn_id}  hello  goes on\n"
    assert f"runner watch {turn_id}" in resumed.err
    assert (more.out, more.err) == (f"{turn_id}  hello  is not paused but pending\n", "")


def test_a_prepared_turn_is_paused_once_it_is_submitted(program: Program) -> None:
    turn_id = submitted(program, "hello", "hi", "--prepare")

    done = program.run("pause", turn_id)

    assert done.out == f"{turn_id}  hello  is paused as soon as it is submitted\n"
    assert program.run("submit", "--turn", turn_id, "--json").document["status"] == "paused"


def test_a_pause_that_has_not_happened_is_taken_back(program: Program) -> None:
    turn_id = submitted(program, "hello", "hi", "--prepare")
    program.run("pause", turn_id)

    done = program.run("resume", turn_id)

    assert done.out == f"{turn_id}  hello  is not to be paused any more\n"


def test_a_turn_that_waits_goes_on_waiting_once_it_is_resumed(program: Program) -> None:
    waiting = submitted(program, "hello", "then", "--wait-for", submitted(program))
    program.run("pause", waiting)

    done = program.run("resume", waiting)

    assert done.out == f"{waiting}  hello  goes on once what it waits for has ended\n"
    assert done.err == ""


def test_a_turn_is_cancelled_and_stays_so(program: Program) -> None:
    turn_id = submitted(program)

    done, again = program.run("cancel", turn_id), program.run("cancel", turn_id)

    assert (done.code, done.out) == (0, f"{turn_id}  hello  cancelled\n")
    assert (again.code, again.out) == (0, f"{turn_id}  hello  has ended already: cancelled\n")
    watched = program.run("watch", turn_id)
    assert (watched.code, watched.out) == (1, "")
    assert f"error: turn {turn_id} is cancelled\n" in watched.err


def test_a_turn_is_steered_once_for_each_key(program: Program) -> None:
    turn_id = submitted(program)

    done = program.run("steer", turn_id, "Be brief.", "--key", "brief")
    again = program.run("steer", turn_id, "Be brief.", "--key", "brief", "--json")

    assert done.out == f"input 1 is queued for {turn_id}, which reads it next\n"
    assert (again.document["position"], again.document["message_id"]) == (1, None)
    with working(program):
        program.run("watch", turn_id)
    shown = program.run("show", turn_id, "--json").document
    assert [given["text"] for given in shown["inputs"]] == ["Be brief."]
    assert shown["inputs"][0]["message_id"] is not None
    late = program.run("steer", turn_id, "Be brief.", "--key", "brief")
    assert late.out == f"input 1 is in the transcript of {turn_id} already\n"


def test_a_turn_that_has_ended_takes_no_input(program: Program) -> None:
    turn_id = submitted(program)
    program.run("cancel", turn_id)

    done = program.run("steer", turn_id, "Be brief.")

    assert (done.code, done.out) == (1, "")
    assert "has ended as cancelled" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["cancel", "turn_0"],
        ["pause", "turn_0"],
        ["resume", "turn_0"],
        ["steer", "turn_0", "x"],
        ["submit", "hello", "x", "--wait-for", "turn_0"],
        ["send", "conv_0", "x"],
        ["inbox", "conv_0"],
        ["outbox", "conv_0"],
        ["submit", "hello", "x", "--callback", "conv_0"],
    ],
    ids=" ".join,
)
def test_what_is_not_stored_is_not_found_and_nothing_is_stored(
    program: Program, arguments: list[str]
) -> None:
    done = program.run(*arguments)

    turn = "there is no turn 'turn_0'; `runner ps` lists them"
    conversation = "there is no conversation 'conv_0'; `runner show` names a turn's"
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: {turn if 'turn_0' in arguments else conversation}\n"
    assert program.run("ps", "--json").document == []


def test_saying_nothing_is_misuse(program: Program) -> None:
    turn_id = submitted(program)

    steered = program.run("steer", turn_id, " ")
    sent = program.run("send", conversation_of(program, turn_id), "")

    assert (steered.code, sent.code) == (2, 2)
    assert steered.err == sent.err == "error: the text is empty\n"


def test_a_prepared_turn_has_its_waits_already(program: Program) -> None:
    done = program.run("submit", "--turn", "turn_0", "--wait-for", "turn_1")

    assert done.code == 2
    assert "--wait-for and --callback" in done.err


def test_a_control_reaches_the_turn_alone_or_all_below(program: Program) -> None:
    program.run("run", "editor", "launch")
    (root,) = program.run("ps", "--json").document
    (below,) = program.run("show", root["id"], "--json").document["below"]

    alone = program.run("pause", root["id"], "--reach", "retain")
    whole = program.run("pause", root["id"], "--reach", "cascade")

    ended = f"{root['id']}  editor  has ended already: completed\n"
    assert alone.out == ended
    assert whole.out == f"{ended}{below['id']}  scout  paused\n"
