"""Live context by the commands: told, shown, and never gathered by looking at files."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.program import Program

DESK = """\
description: Answers customers.
model: default
instructions: Answer the ticket.
context: [account, shift, {name: house, file: house.md, trusted: true}]
"""
ACCOUNT = """\
kind: context
description: The customer's account.
sql: SELECT name, plan FROM accounts WHERE id = :id
database: crm
parameters: {id: "{context.account_id}"}
"""
SHIFT = """\
kind: context
python: shifts:on_duty
on_error: skip
"""
SHIFTS = '''\
"""Who is on duty."""

from pathlib import Path

from runner import ContributorContext

Path(__file__).with_name("imported").touch()


def on_duty(context: ContributorContext) -> str:
    """Say who is on duty."""
    return f"On duty: {context.context['shift']}"
'''
TICKET = '{"type": "ticket", "id": "4711", "text": "It </subject> burns."}'
GIVEN = ("--subject", TICKET, "--context", '{"account_id": 7, "shift": "Ann"}')


@pytest.fixture
def desk(program: Program) -> Program:
    """The program in a project with an agent that is told of the present."""
    with sqlite3.connect(program.root / "crm.db") as connection:
        connection.execute("CREATE TABLE accounts (id INTEGER, name TEXT, plan TEXT)")
        connection.execute("INSERT INTO accounts VALUES (7, 'Ann <script>', 'pro')")
    program.configure('databases: {crm: {url: "sqlite:///crm.db"}}\n')
    program.write("agents/desk.yaml", DESK)
    program.write("agents/account.yaml", ACCOUNT)
    program.write("agents/shift.yaml", SHIFT)
    program.write("agents/house.md", "Use <b> sparingly.\n")
    program.write("python/shifts.py", SHIFTS)
    program.write("script.yaml", "- agent: desk\n  answers:\n    - text: Answered.\n")
    return program


def told(program: Program, turn: dict[str, str]) -> list[str]:
    messages = program.run("messages", turn["conversation_id"], "--json").document
    return [each["parts"][0]["text"] for each in messages if each["role"] == "context"]


def test_a_run_is_told_of_its_subject_and_by_its_contributors(desk: Program) -> None:
    done = desk.run("run", "desk", "Answer.", *GIVEN, "--json")

    turn = done.documents[-1]["turn"]
    [message] = told(desk, turn)
    assert (done.code, turn["result"]) == (0, "Answered.")
    assert turn["subject"] == json.loads(TICKET)
    assert message.partition("<subject")[2] == (
        ' type="ticket" id="4711" trusted="no">\n'
        "It &lt;/subject> burns.\n"
        "</subject>\n\n"
        '<context name="account" trusted="no" about="The customer\'s account.">\n'
        '{"name":"Ann &lt;script>","plan":"pro"}\n'
        "</context>\n\n"
        '<context name="shift" trusted="no">\nOn duty: Ann\n</context>\n\n'
        '<context name="house" trusted="yes">\nUse <b> sparingly.\n</context>'
    )


def test_the_preview_shows_what_contributors_give_and_how_long_it_is(desk: Program) -> None:
    shown = desk.run("preview", "desk", "Answer.", *GIVEN)
    without = desk.run("preview", "desk", "Answer.", *GIVEN, "--no-context")

    assert shown.code == 0
    assert "On duty: Ann" in shown.out
    parts = ("environment", "subject", "account", "shift", "house")
    assert {f"context.{name}" for name in parts} <= set(shown.out.split())
    assert "On duty" not in without.out
    assert "4711" in without.out


def test_the_preview_of_a_prepared_turn_is_what_is_sent(desk: Program) -> None:
    prepared = desk.run("submit", "desk", "Answer.", *GIVEN, "--prepare", "--json").document

    of_turn = desk.run("preview", "--turn", prepared["id"], "--json").document
    of_task = desk.run("preview", "desk", "Answer.", *GIVEN, "--json").document

    assert of_turn == of_task
    refused = desk.run("preview", "--turn", prepared["id"], *GIVEN)
    assert (refused.code, "has its task" in refused.err) == (2, True)


def test_a_contributor_that_fails_is_named_and_one_that_may_be_skipped_is_told(
    desk: Program,
) -> None:
    failed = desk.run("run", "desk", "Answer.")
    skipped = desk.run("preview", "desk", "Answer.", "--context", '{"account_id": 7}')

    assert failed.code == 1
    told = "'account' failed: the turn has no value 'context.account_id' (--context gives it)"
    assert told in failed.err
    assert skipped.code == 0
    assert skipped.err == "left out: the contributor 'shift' failed: it raised KeyError\n"


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ('{"id": "7"}', "a subject has a type and an id"),
        ('{"type": "t", "id": 7}', "a subject has a type and an id"),
        ('{"type": "t", "id": "7", "name": "x"}', "a subject has a type and an id"),
        ("[]", "--subject wants a JSON object"),
        ("{", "--subject is not JSON"),
    ],
)
def test_a_subject_that_is_none_is_refused(desk: Program, subject: str, said: str) -> None:
    done = desk.run("run", "desk", "Answer.", "--subject", subject)

    assert done.code == 2
    assert said in done.err


def test_a_chat_is_about_one_thing_and_a_message_may_be_about_another(desk: Program) -> None:
    first = desk.run_apart("chat", "desk", *GIVEN, "--json", typed="One.\nTwo.\n")
    turns = [each["turn"] for each in first.documents if each["type"] == "turn"]
    conversation = turns[0]["conversation_id"]

    other = desk.run_apart(
        *("chat", "desk", "--conversation", conversation, "--json"),
        *("--subject", '{"type": "order", "id": "9"}', "--context", '{"shift": "Bob"}'),
        typed="Three.\n",
    )
    last = desk.run("submit", "desk", "Four.", "--conversation", conversation, "--json").document

    assert [turn["subject"]["id"] for turn in turns] == ["4711", "4711"]
    third = other.documents[-1]["turn"]
    assert (third["subject"]["id"], third["context"]) == ("9", {"account_id": 7, "shift": "Bob"})
    assert (last["subject"]["id"], last["context"]["shift"]) == ("4711", "Ann")
    assert len(told(desk, third)) == 2


def test_validating_asks_no_contributor_and_imports_nothing(desk: Program) -> None:
    desk.write("agents/touch.yaml", "kind: context\ncommand: [touch, touched]\n")
    (desk.root / "crm.db").unlink()
    before = {path for path in desk.root.rglob("*") if "__pycache__" not in path.parts}

    done = desk.run("validate")

    assert done.code == 0
    after = {path for path in desk.root.rglob("*") if "__pycache__" not in path.parts}
    assert before == after


def test_a_function_that_cannot_be_used_is_a_problem_on_request(desk: Program) -> None:
    desk.configure(
        'databases: {crm: {url: "sqlite:///crm.db"}}\n'
        "context: [{name: here, python: 'shifts:nobody'}]\n"
    )
    desk.write("agents/shift.yaml", SHIFT.replace("on_duty", "gone"))
    desk.write("agents/other.yaml", "description: x\ncontext: [{name: y, python: 'shifts:none'}]\n")

    assert desk.run("validate").code == 0
    done = desk.run("validate", "--import", "--json")

    problems = done.document["problems"]
    assert [(each["path"], each["line"], each["code"]) for each in problems] == [
        ("agents/other.yaml", 2, "import-failed"),
        ("agents/shift.yaml", 2, "import-failed"),
        ("config.yaml", 9, "import-failed"),
    ]
    assert problems[1]["message"].startswith("contributor 'shift' cannot use 'shifts:gone'")
    assert (desk.root / "python" / "imported").exists()


def test_a_new_contributor_works_at_once(desk: Program) -> None:
    made = desk.run("new", "context", "on-call")

    assert made.code == 0
    assert "wrote agents/on-call.yaml\n" in made.out
    assert "wrote python/on_call.py\n" in made.out
    desk.write("agents/desk.yaml", "description: x\nmodel: default\ncontext: [on-call]\n")
    assert desk.run("validate", "--import").code == 0
    assert "This is for desk." in desk.run("preview", "desk", "Go.").out


def test_a_secret_reaches_neither_the_database_nor_what_is_shown(
    desk: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_TOKEN", "hunter2")
    desk.write(
        "agents/desk.yaml",
        "description: x\nmodel: default\ncontext:\n"
        "  - {name: c, on_error: skip, http: {url: 'https://none.invalid/${CRM_TOKEN}',"
        " headers: {Authorization: 'Bearer ${CRM_TOKEN}'}}}\n"
        "  - {name: d, command: [sh, -c, 'test \"$KEY\" = hunter2 && echo yes'],"
        " env: {KEY: '${CRM_TOKEN}'}}\n",
    )

    done = desk.run("run", "desk", "Answer.", "--json")
    shown = desk.run("show", done.documents[-1]["turn"]["id"], "--json")
    listed = desk.run("agents", "--json")

    assert done.code == 0
    assert "yes" in "".join(told(desk, done.documents[-1]["turn"]))
    everything = done.out + done.err + shown.out + listed.out
    assert "hunter2" not in everything.replace("= hunter2", "")
    assert "context.skipped" in shown.out
    stored = b"".join(path.read_bytes() for path in Path(desk.root).glob("runner.db*"))
    assert b"hunter2" not in stored.replace(b"= hunter2", b"")
    assert b"Bearer ${CRM_TOKEN}" in stored


def test_the_databases_of_contributors_are_tried_on_request(desk: Program) -> None:
    found = desk.run("validate", "--check", "--json").document["checks"]
    (desk.root / "crm.db").unlink()
    missing = desk.run("validate", "--check", "--json").document["checks"]

    statuses = [{one["name"]: one["status"] for one in checks} for checks in (found, missing)]
    assert [each["database crm"] for each in statuses] == ["ok", "failed"]
    [said] = [one["message"] for one in missing if one["name"] == "database crm"]
    assert said == "sqlite:///crm.db: the file of the database 'crm' is not there"
