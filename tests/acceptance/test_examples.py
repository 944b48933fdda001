"""The examples, as those who read the README meet them."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from runner import Runner
from runner.core.errors import UsageError
from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.example_commands import PROGRAM, command, environ_of, with_claude, worker
from tests.example_project import OFFLINE, REPOSITORY, ExampleProject
from tests.markdown import page
from tests.servers.messages_api import messages_api
from tests.servers.replies import Reply, text, thinking, tool_use

NOTES: JsonObject = json.loads((REPOSITORY / "agents/data/weekly_sync.json").read_text("utf-8"))
AUDIT = "Audit the expenses of March."


@pytest.fixture
def runner(example: ExampleProject) -> Iterator[Runner]:
    with Runner(example.config, environ=OFFLINE) as runner:
        yield runner


def expected_findings() -> set[tuple[str, str]]:
    """Audit the ledger without a model: each record with the rule that it breaks."""
    data = REPOSITORY / "agents" / "data"
    with (data / "ledger.csv").open() as ledger, (data / "receipts.csv").open() as receipts:
        records = list(csv.DictReader(ledger))
        by_number = {row["receipt"]: row for row in csv.DictReader(receipts)}
    most = {"hotel": Decimal(180), "meals": Decimal(60)}
    claims = Counter[str]()
    found = set[tuple[str, str]]()
    for record in records:
        amount, number = Decimal(record["amount"]), record["receipt"]
        receipt = by_number.get(number)
        claims[number] += 1
        broken = {
            "receipt missing": receipt is None and amount > Decimal(25),
            "amount differs": receipt is not None and Decimal(receipt["amount"]) != amount,
            "claimed twice": receipt is not None and claims[number] > 1,
            "over the limit": amount > most.get(record["category"], amount),
            "private": receipt is not None and "cookery" in receipt["items"],
        }
        found |= {(record["record"], rule) for rule, is_so in broken.items() if is_so}
    return found


def test_the_briefer_saves_what_it_was_given(example: ExampleProject, runner: Runner) -> None:
    turn = runner.run("briefer", "Write the brief.", input=NOTES)

    assert turn.status is TurnStatus.COMPLETED
    assert isinstance(turn.output_data, dict)
    saved = (example.root / str(turn.output_data["path"])).read_text("utf-8")
    assert turn.result == (
        f"Saved {turn.output_data['path']} with 2 decisions and 4 actions.\n\n{saved}"
    )
    assert str(NOTES["title"]) in saved


@pytest.mark.parametrize(
    "wrong", [{"date": 3}, {"notes": ""}, {"mood": "good"}], ids=["type", "empty", "unknown"]
)
def test_the_briefer_takes_no_input_of_another_form(runner: Runner, wrong: JsonObject) -> None:
    with pytest.raises(UsageError, match="input_schema"):
        runner.run("briefer", "Write the brief.", input={**NOTES, **wrong})

    assert not runner.turns()


def test_other_notes_offline_are_answered_with_what_is_missing(runner: Runner) -> None:
    turn = runner.run("briefer", "Write the brief.", input={**NOTES, "title": "Another"})

    assert turn.status is TurnStatus.COMPLETED
    assert "no model was asked" in (turn.result or "")


def test_the_auditor_finds_what_there_is_to_find(runner: Runner) -> None:
    turn = runner.run("auditor", AUDIT)

    executions = runner.executions(turn.id)
    rows = re.findall(r"^\| (E-\d+) \| [\d.]+ \| ([a-z ]+) \|", turn.result or "", re.MULTILINE)
    assert turn.status is TurnStatus.COMPLETED
    assert set(rows) == expected_findings()
    assert len(executions) > 10
    assert {each.status for each in executions} == {ExecutionStatus.COMPLETED}


def test_what_the_auditor_quotes_was_there(runner: Runner) -> None:
    turn = runner.run("auditor", AUDIT)

    said = [message.text for message in runner.messages(turn.conversation_id)]
    arguments = [json.dumps(each.arguments) for each in runner.executions(turn.id)]
    assert not any("{last_result" in each for each in (*said, *arguments))


def test_the_guide_answers_from_the_documents(runner: Runner) -> None:
    conversation = runner.conversation("guide")

    first = conversation.say("What does replay_safe mean?")
    second = conversation.say("Where do I set the lease?")

    assert [call.tool for call in runner.executions(first.id)] == ["read_docs", "search_docs"]
    assert "idempotency_key" in (first.result or "")
    assert "`worker.lease`" in (second.result or "")
    assert first.conversation_id == second.conversation_id


def test_the_guide_reads_nothing_but_the_documents(example: ExampleProject, runner: Runner) -> None:
    script = example.root / "agents/_offline/guide.yaml"
    script.write_text(
        "- agent: guide\n"
        "  answers:\n"
        "    - tool_calls: [{name: read_docs, arguments: {path: ../config.yaml}}]\n"
        "    - text: '{last_result}'\n"
    )

    turn = runner.conversation("guide").say("Show me the config.")

    assert "leads out of the folder" in (turn.result or "")
    assert [each.status for each in runner.executions(turn.id)] == [ExecutionStatus.FAILED]


def test_with_a_key_the_agents_ask_claude(example: ExampleProject) -> None:
    with Runner(example.config, environ={"ANTHROPIC_API_KEY": "a key"}) as runner:
        models = {agent.model.client for agent in runner.agents().values()}

    assert models == {"anthropic"}


def test_the_briefer_works_with_claude(example: ExampleProject) -> None:
    brief = {
        "title": "Weekly sync",
        "date": "2026-03-02",
        "summary": "The release moves.",
        "decisions": [],
        "actions": [{"owner": "Ana", "what": "Tell the customers", "due": None}],
    }
    calls = Reply(content=[thinking(), tool_use("save_brief", brief)], stop_reason="tool_use")
    with messages_api([calls]) as server, with_claude(example, server.url) as runner:
        turn = runner.run("briefer", "Write the brief.", input=NOTES)

    assert turn.status is TurnStatus.COMPLETED
    assert "**Ana**: Tell the customers" in (turn.result or "")
    assert not server.refused


@pytest.mark.parametrize(
    ("agent", "calls"),
    [
        ("guide", [tool_use("read_docs", {"path": "."}), tool_use("search_docs", {"words": "x"})]),
        ("auditor", [tool_use("ledger_page", {"page": 1}), tool_use("ledger_page", {"page": 9})]),
    ],
)
def test_the_others_work_with_claude(
    example: ExampleProject, agent: str, calls: list[dict[str, object]]
) -> None:
    answers = [
        Reply(content=[thinking(), text("Let me look."), *calls], stop_reason="tool_use"),
        Reply(content=[thinking(), text("Here it is.")]),
    ]
    with messages_api(answers) as server, with_claude(example, server.url) as runner:
        turn: Turn = runner.conversation(agent).say("Go on.")
        executions = runner.executions(turn.id)

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Here it is.")
    assert len(executions) == len(calls)
    assert not server.refused


def test_every_function_that_an_example_names_is_there(example: ExampleProject) -> None:
    result = command(example, str(PROGRAM), "validate", "--import")

    assert (result.returncode, result.stderr) == (0, "")
    assert "no problems" in result.stdout


def readme_commands() -> list[list[str]]:
    """The commands that the README shows for the agent of one's own."""
    lines = [line for block in page("README.md").blocks("sh") for line in block.text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if " hello" in line]


def test_a_new_agent_works_at_once_and_with_a_worker_that_runs_already(
    example: ExampleProject,
) -> None:
    block = next(b for b in page("README.md").blocks("yaml") if b.path == "agents/hello.yaml")
    commands = readme_commands()
    with worker(example):
        (example.root / block.path).write_text(block.text)
        results = {
            words[1]: command(example, str(PROGRAM), *words[1:], said="Good morning!\n")
            for words in (["runner", "validate"], *commands)
        }
        listed = command(example, str(PROGRAM), "ps", "--json", "--all")

    assert list(results) == ["validate", "preview", "run", "chat", "submit"]
    assert {name: each.returncode for name, each in results.items()} == dict.fromkeys(results, 0)
    assert "9 agents" in results["validate"].stdout
    assert "Greet whoever writes" in results["preview"].stdout
    assert all("no model was asked" in results[name].stdout for name in ("run", "chat", "submit"))
    assert listed.stdout.count("completed") == 3


@pytest.mark.parametrize("agent", ["briefer", "guide", "auditor", "editor"])
def test_the_command_that_the_readme_shows_for_an_example_works(
    example: ExampleProject, agent: str
) -> None:
    row = re.search(rf"^\| \[{agent}\].*`runner (.*)` \|$", page("README.md").text, re.MULTILINE)
    assert row

    result = command(example, str(PROGRAM), *shlex.split(row[1]), said="What is a claim?\n")

    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_that_is_shown_runs(example: ExampleProject, name: str) -> None:
    hello = next(b for b in page("README.md").blocks("yaml") if b.path == "agents/hello.yaml")
    (example.root / hello.path).write_text(hello.text)
    for block in page(name).blocks("python"):
        result = command(example, sys.executable, "-c", block.text)

        assert result.returncode == 0, result.stderr
        assert result.stdout


def assert_all_ended(group: int) -> None:
    """See that no process is left of a group."""
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def run_example(
    example: ExampleProject, temporary: Path
) -> tuple[subprocess.Popen[str], tuple[str, str]]:
    """Run what `make run` runs, in a process group of its own."""
    scripts = example.root / "scripts"
    scripts.mkdir()
    script = scripts / "example"
    script.write_bytes((REPOSITORY / "scripts" / "example").read_bytes())
    temporary.mkdir()
    process = subprocess.Popen(
        ["/bin/sh", script, PROGRAM],
        env=environ_of(example, TMPDIR=str(temporary)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return process, process.communicate(timeout=120)


def test_make_run_shows_a_finished_turn_and_leaves_nothing_behind(
    example: ExampleProject, tmp_path: Path
) -> None:
    process, (result, progress) = run_example(example, tmp_path / "temporary")

    assert process.returncode == 0, progress
    assert "5 findings" in result
    assert progress.count("✓") == 16
    assert "completed" in progress
    assert_all_ended(process.pid)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not (example.root / "runner.db").exists()


def test_make_run_says_what_is_wrong_instead_of_waiting(
    example: ExampleProject, tmp_path: Path
) -> None:
    example.config.write_text("agents_dir: 7\n")

    process, (_, said) = run_example(example, tmp_path / "temporary")

    assert process.returncode == 1
    assert "error:" in said
    assert_all_ended(process.pid)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_make_run_is_that_script() -> None:
    recipe = re.search(r"^run:.*\n\t@?(.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)

    assert recipe
    assert recipe[1] == "scripts/example $(RUNNER)"
    assert os.access(REPOSITORY / "scripts" / "example", os.X_OK)
