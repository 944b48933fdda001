"""What turns and trees cost, as people and programs see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.cli.text import plain
from tests.program import Program
from tests.terminal import Terminal
from tests.waiting import until

CONFIG = """\
clients:
  offline: {type: scripted, scripts: [script.yaml]}
models:
  default: {client: offline, model: scripted-1, price: {input: 10, output: 100}}
  unknown: {client: offline, model: scripted-2}
python_modules: [python/]
"""
EDITOR = """\
name: editor
description: Has others look things up.
instructions: Delegate.
sub_agents: [scout, stranger]
"""
SCOUT = """\
name: scout
description: Looks things up.
instructions: Look.
tools: [{name: hold, python: "notes:hold"}]
"""
STRANGER = """\
name: stranger
description: Looks elsewhere.
model: unknown
instructions: Look.
"""
#: The scout's tool goes on once a file is there.
NOTES = '''\
"""Tools of the tests."""

from pathlib import Path
from threading import Event


def hold(file: str) -> str:
    """Wait for a file."""
    while not Path(file).exists():
        Event().wait(0.05)
    return "It is there."
'''
SCRIPT = """\
- agent: editor
  when: elsewhere
  answers:
    - usage: {input_tokens: 1000}
      tool_calls: [{name: stranger, arguments: {task: "Look elsewhere."}}]
    - {text: Done., usage: {output_tokens: 100}}
- agent: editor
  answers:
    - usage: {input_tokens: 1000}
      tool_calls: [{name: scout, arguments: {task: "Look."}}]
    - {text: Done., usage: {output_tokens: 100}}
- agent: scout
  answers:
    - usage: {input_tokens: 200, output_tokens: 5}
      tool_calls: [{name: hold, arguments: {file: "FILE"}}]
    - {text: Found it., usage: {input_tokens: 300}}
- agent: stranger
  answers: [{text: Found it., usage: {input_tokens: 400}}]
"""


@pytest.fixture(autouse=True)
def file(program: Program, tmp_path: Path) -> Path:
    """The file that the scout waits for, in a project of three agents."""
    path = tmp_path / "go_on"
    program.write("config.yaml", CONFIG)
    for name, text in (("editor", EDITOR), ("scout", SCOUT), ("stranger", STRANGER)):
        program.write(f"agents/{name}.yaml", text)
    program.write("python/notes.py", NOTES)
    program.write("script.yaml", SCRIPT.replace("FILE", str(path)))
    return path


@contextmanager
def working(program: Program) -> Iterator[None]:
    """Have a worker for a while."""
    worker = program.start("worker", "--threads", "2")
    try:
        yield
    finally:
        worker.terminate()
        worker.communicate(timeout=60)


def test_a_run_ends_with_what_all_of_it_cost(program: Program, file: Path) -> None:
    file.touch()

    done = program.run("run", "editor", "Go.")

    assert "1,500 tokens in, 105 out · $0.0255 · turn_" in done.err
    assert "  scout  completed · " in done.err
    assert "500 tokens in, 5 out · $0.0055\n" in done.err


def test_what_has_no_price_is_said_to_have_none(program: Program) -> None:
    alone = program.run("run", "stranger", "Go.")
    among = program.run("run", "editor", "Look elsewhere.")

    assert "400 tokens in, 0 out · unpriced · turn_" in alone.err
    assert "1,400 tokens in, 100 out · at least $0.0200 · turn_" in among.err
    assert "$" not in alone.err


def test_programs_get_usage_and_cost_of_each_turn_and_of_all(program: Program) -> None:
    last = program.run("run", "editor", "Look elsewhere.", "--json").documents[-1]
    (root,) = program.run("ps", "--json").document
    shown = program.run("show", root["id"], "--json").document

    assert last["turn"] == shown["turn"] == root
    assert (root["cost"], root["unpriced_requests"]) == ("0.02", 0)
    assert root["usage"]["input_tokens"] == 1000
    (stranger,) = shown["below"]
    assert (stranger["cost"], stranger["unpriced_requests"]) == (None, 1)
    assert last["total"] == shown["total"]
    assert shown["total"]["usage"]["input_tokens"] == 1400
    assert (shown["total"]["cost"], shown["total"]["unpriced_requests"]) == ("0.02", 1)
    answered = [each["body"] for each in shown["events"] if each["kind"] == "model.responded"]
    assert [body["cost"] for body in answered] == ["0.01", "0.01"]
    assert [body["output_tokens"] for body in answered] == [0, 100]


def test_a_listed_turn_costs_what_all_below_it_cost(program: Program, file: Path) -> None:
    file.touch()
    program.run("run", "editor", "Go.")
    program.run("submit", "stranger", "Later.")

    roots = [line.split() for line in program.run("ps").out.splitlines()[1:]]
    trees = [line.split() for line in program.run("ps", "--tree").out.splitlines()[1:]]

    assert [line[-2] for line in roots] == ["model", "$0.0255"]
    assert [line[-2] for line in trees] == ["model", "$0.0200", "$0.0055"]


def test_a_person_is_shown_what_each_turn_and_the_tree_cost(program: Program, file: Path) -> None:
    file.touch()
    program.run("run", "editor", "Go.")
    (root,) = program.run("ps", "--json").document

    shown = program.run("show", root["id"]).out

    below = root["id"], program.run("show", root["id"], "--json").document["below"][0]["id"]
    assert f"  editor  completed  {below[0]}  $0.0200\n" in shown
    assert f"  └─ scout  completed  {below[1]}  $0.0055\n" in shown
    assert "105 out · $0.0255\n" in shown
    assert "cost=$0.01 " in shown


# Where it is narrow, how long it takes decides which of the others there is room for.
@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (120, {"AGENT", "STATUS", "ITER", "TOOLS", "TIME", "TOKENS", "COST"}),
        (60, {"AGENT", "STATUS", "COST"}),
    ],
)
def test_a_running_tree_is_watched_with_what_it_costs_so_far(
    program: Program, file: Path, width: int, headings: set[str]
) -> None:
    turn_id = program.run("submit", "editor", "Go.").out.strip()
    with working(program):
        until(lambda: program.run("ps", "--agent", "scout", "--json").document, "the scout")
        terminal = Terminal(program, "watch", turn_id, NO_COLOR="1", COLUMNS=str(width))
        terminal.read_until("$0.0125")  # 1000 tokens in; 200 more, and 5 out
        file.touch()
        code = terminal.read_to_the_end()
        terminal.close()

    lines = [line.rstrip() for line in plain(terminal.shown).splitlines()]
    assert code == 0
    shown = [line.split() for line in lines if line.startswith("AGENT")]
    assert shown
    assert all(headings <= set(heading) for heading in shown)
    assert any("editor" in line and "waiting" in line and "$0.0100" in line for line in lines)
    assert any("└─" in line and "running" in line and "$0.0025" in line for line in lines)
    assert [line.split()[-1] for line in lines if line.startswith("whole tree")][-1] == "$0.0255"
