"""The example of a support desk: policies, a person's answer, an account and a skill at work."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from runner import Runner
from runner.core.errors import NotPermitted
from runner.core.jsonvalue import JsonObject
from runner.core.messages import ToolResult
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.desk import LARGE, LENA, OMAR, SMALL, Desk, given, make_accounts, work
from tests.acceptance.example_commands import PROGRAM, command, environ_of, with_claude
from tests.example_project import REPOSITORY, ExampleProject
from tests.markdown import page
from tests.servers.messages_api import messages_api
from tests.servers.replies import call, say
from tests.waiting import until

TASK = "Answer ticket {}."
REASON = "Only the support agent writes to customers."


@pytest.fixture
def desk(example: ExampleProject, database_url: str) -> Desk:
    """The desk, with its turns on each database."""
    make_accounts(example)
    for script in (example.root / "agents/_offline").iterdir():
        script.write_text(re.sub(r"delay: \w+", "delay: 1ms", script.read_text("utf-8")))
    return Desk(example=example, environ={"RUNNER_DATABASE_URL": database_url})


@pytest.fixture
def files(example: ExampleProject) -> Desk:
    """The desk, with its turns where the config keeps them."""
    make_accounts(example)
    return Desk(example=example)


def asked(desk: Desk) -> tuple[Turn, str]:
    """Take a large refund to where somebody is asked, and the process with it."""
    with desk.runner() as runner:
        turn = work(runner, runner.submit("support", TASK.format(LARGE), given=given(LARGE)))
        [approval] = runner.approvals()
    assert (turn.status, turn.open_approvals) == (TurnStatus.WAITING, 1)
    return turn, approval.id


def test_a_large_refund_outlives_its_worker_and_is_paid_once_as_it_was_approved(
    desk: Desk,
) -> None:
    turn, approval_id = asked(desk)
    assert desk.ledger == []

    with desk.runner(OMAR) as supervisor:
        shown = supervisor.approve(approval_id).question.arguments
    with desk.runner() as runner:
        done = work(runner, turn)
        findings = runner.audit()

    assert done.status is TurnStatus.COMPLETED
    [line] = desk.ledger
    assert {key: line[key] for key in ("order", "reason")} == {
        key: shown[key] for key in ("order", "reason")
    }
    assert (line["amount"], shown["amount"]) == ("189.00", 189.0)
    assert str(line["key"]).startswith(f"{turn.id}:")
    [letter] = desk.letters
    assert f"We have paid back 189.00 ({line['receipt']})" in letter
    assert findings == []


@pytest.mark.parametrize("principal", [LENA, {"user": "nils"}, {"role": ["supervisor"]}])
def test_only_a_supervisor_may_answer(desk: Desk, principal: JsonObject) -> None:
    _, approval_id = asked(desk)

    with desk.runner(principal) as runner:
        with pytest.raises(NotPermitted):
            runner.approve(approval_id)
        with pytest.raises(NotPermitted):
            runner.deny(approval_id)
        [still] = runner.approvals()

    assert still.answer is None


def test_a_denied_refund_is_not_paid_and_no_letter_says_that_it_was(desk: Desk) -> None:
    turn, approval_id = asked(desk)

    with desk.runner(OMAR) as supervisor:
        supervisor.deny(approval_id, reason="The carrier pays.")
    with desk.runner() as runner:
        done = work(runner, turn)

    assert done.status is TurnStatus.COMPLETED
    assert "The carrier pays." in (done.result or "")
    assert (desk.ledger, desk.letters) == ([], [])


def test_a_small_refund_needs_nobody(desk: Desk) -> None:
    with desk.runner() as runner:
        turn = work(runner, runner.submit("support", TASK.format(SMALL), given=given(SMALL)))
        approvals = runner.approvals()

    assert (turn.status, approvals) == (TurnStatus.COMPLETED, [])
    assert [(line["order"], line["amount"]) for line in desk.ledger] == [("D-1050", "12.50")]
    assert len(desk.letters) == 1


def test_the_researcher_may_not_write_reads_why_and_reports_instead(desk: Desk) -> None:
    turn, _ = asked(desk)

    with desk.runner() as runner:
        [child] = [each for each in runner.tree(turn.id) if each.id != turn.id]
        runs = {run.tool: run for run in runner.executions(child.id)}
        told = [part for each in runner.messages(child.conversation_id) for part in each.parts]

    assert child.status is TurnStatus.COMPLETED
    assert runs["mail_customer"].status is ExecutionStatus.REFUSED
    [refusal] = [part for part in told if isinstance(part, ToolResult) and part.is_error]
    assert (refusal.name, REASON in json.dumps(refusal.content)) == ("mail_customer", True)
    assert "should be asked for a photograph" in (child.result or "")
    assert "D-1042: parcel fell" in (child.result or "")
    assert desk.letters == []


def test_somebody_who_is_not_of_the_desk_gets_nothing_paid(desk: Desk) -> None:
    with desk.runner({"user": "eve", "team": "north"}) as runner:
        turn = work(runner, runner.submit("support", TASK.format(SMALL), given=given(SMALL)))
        runs = runner.executions(turn.id)

    assert [run.status for run in runs] == [ExecutionStatus.REFUSED] * 2
    assert (desk.ledger, desk.letters) == ([], [])


def test_the_model_is_told_of_the_account_and_the_house_style(files: Desk) -> None:
    with files.runner() as runner:
        preview = runner.preview("support", TASK.format(SMALL), given=given(SMALL))

    request = json.dumps(preview.request.body, ensure_ascii=False)
    assert "Amelie Brandt" in request
    assert 'Espresso machine \\\\\\"Strand\\\\\\"' in request
    assert "only one of the two water filters" in request
    assert 'Close with \\"Yours, the Kettle & Cup desk\\"' in request.replace('\\\\"', '\\"')
    assert "examples/refund.md" in request
    assert "Teodor Lind" not in request


@pytest.mark.parametrize(
    ("principal", "account"),
    [
        pytest.param({**LENA, "team": "south"}, 7, id="another team's"),
        pytest.param(LENA, 8, id="not the ticket's"),
        pytest.param({**LENA, "team": "north' OR '1'='1"}, 7, id="a team that is SQL"),
    ],
)
def test_an_account_that_does_not_go_with_all_three_is_not_told(
    files: Desk, principal: JsonObject, account: int
) -> None:
    with files.runner(principal) as runner:
        preview = runner.preview("support", TASK.format(SMALL), given=given(SMALL, account))

    request = json.dumps(preview.request.body)
    assert "(no rows)" in request
    assert "a.brandt@" not in request


def test_the_desk_works_with_claude(files: Desk) -> None:
    arguments = {"order": "D-1050", "amount": 12.5, "reason": "One was missing."}
    answers = [
        call("read_skill_file", {"skill": "house-style", "path": "examples/refund.md"}),
        call("refund", arguments),
        call("mail_customer", {"subject": "Your order", "text": "Dear Ms Brandt, …"}),
        say("Done."),
    ]
    with messages_api(answers) as server, with_claude(files.example, server.url) as opened:
        runner: Runner = opened.acting_for(LENA)
        turn = runner.run("support", TASK.format(SMALL), given=given(SMALL))
        bodies = [request.body for request in server.requests]

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Done.")
    assert "house-style" in json.dumps(bodies[0]["system"])
    assert "a.brandt@customer.example" in json.dumps(bodies[0]["messages"])
    assert "Dear Mr Okafor" in json.dumps(bodies[1]["messages"][-1])
    assert not server.refused


def test_the_policy_holds_in_a_run_without_workers_too(files: Desk) -> None:
    ticket = shlex.split(
        f"run support 'Answer ticket {LARGE}.' --subject @agents/data/desk/ticket_{LARGE}.json "
        """--context '{"account": 7}' --principal @agents/data/desk/lena.json"""
    )
    with subprocess.Popen(
        [PROGRAM, *ticket],
        cwd=files.example.root,
        env=environ_of(files.example),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        with files.runner(OMAR) as supervisor:
            until(supervisor.approvals, "the question")
            [approval] = supervisor.approvals()
            assert files.ledger == []
            supervisor.approve(approval.id)
        result, told = process.communicate(timeout=60)

    assert process.returncode == 0, told
    assert f"refused: denied by policy: {REASON}" in told
    assert "R-" in result
    assert len(files.ledger) == 1


def test_without_its_database_the_desk_says_so(example: ExampleProject) -> None:
    with Desk(example=example).runner() as runner:
        turn = runner.run("support", TASK.format(SMALL), given=given(SMALL))
    valid = command(example, str(PROGRAM), "validate")
    checked = command(example, str(PROGRAM), "validate", "--check")

    assert turn.error
    assert "the file of the database 'accounts' is not there" in turn.error.message
    assert valid.returncode == 0
    assert "sqlite:///out/desk/accounts.db: the file of the database" in checked.stdout


def test_the_commands_that_the_readme_shows_for_the_desk_work(files: Desk) -> None:
    lines = [
        line
        for block in page("README.md").blocks("sh")
        for line in block.text.replace("\\\n", "").splitlines()
        if "support" in line
    ]
    results = [command(files.example, str(PROGRAM), *shlex.split(each)[1:]) for each in lines]

    assert [words.split()[1] for words in lines] == ["policy", "run"]
    assert [each.returncode for each in results] == [0, 0], results
    assert "ask" in results[0].stdout
    assert "R-" in results[1].stdout


def started(example: ExampleProject, temporary: Path) -> subprocess.Popen[str]:
    """Start what `make desk` runs, in a process group of its own."""
    temporary.mkdir()
    return subprocess.Popen(
        ["/bin/sh", example.root / "scripts/desk", PROGRAM, PROGRAM.with_name("python")],
        env=environ_of(example, TMPDIR=str(temporary), NO_COLOR="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """A folder for temporary files, in which nothing may be left."""
    folder = tmp_path / "temporary"
    yield folder
    assert list(folder.iterdir()) == []


def assert_all_ended(group: int) -> None:
    """See that no process is left of a group."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
        pytest.fail("a process is left")


def test_make_desk_runs_to_its_end_and_leaves_nothing_behind(files: Desk, temporary: Path) -> None:
    before = sorted(files.example.root.rglob("*"))
    process = started(files.example, temporary)
    said, complaints = process.communicate(timeout=240)

    assert (process.returncode, complaints) == (0, "")
    assert_all_ended(process.pid)
    new = {path.name for path in set(files.example.root.rglob("*")) - set(before)}
    assert not {name for name in new if "pyc" not in name and name != "temporary"}
    story = [line for line in said.splitlines() if line.startswith(("== ", "error:"))]
    assert [line[:7] for line in story] == [
        *["== A wo", "== The ", "== The ", "== Lena"],
        "error: ",
        "== Omar",
        "== All ",
        "== The ",
        "== The ",
    ]
    assert "not yours to answer: Only a supervisor may answer." in said
    assert f"refused: denied by policy: {REASON}" in said
    assert said.count('"receipt": "R-') == 1
    assert '"order": "D-1042", "amount": "189.00"' in said
    assert "Yours, the Kettle & Cup desk" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_make_desk_cleans_up_when_it_is_interrupted(
    files: Desk, temporary: Path, number: signal.Signals
) -> None:
    process = started(files.example, temporary)
    assert process.stdout
    until(lambda: "turn_" in str(process.stdout and process.stdout.readline()), "the turn")

    process.send_signal(number)
    process.communicate(timeout=120)

    assert process.returncode == {signal.SIGINT: 130}.get(number, 143)
    assert_all_ended(process.pid)


def test_make_desk_says_what_is_wrong_instead_of_waiting(files: Desk, temporary: Path) -> None:
    files.example.config.write_text("agents_dir: 7\n")

    process = started(files.example, temporary)
    _, complaints = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "error:" in complaints
    assert_all_ended(process.pid)


def test_make_desk_is_that_script() -> None:
    recipe = re.search(r"^desk:.*\n\t@?(.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)

    assert recipe
    assert recipe[1] == "scripts/desk $(RUNNER) $(BIN)/python"
    assert os.access(REPOSITORY / "scripts" / "desk", os.X_OK)
