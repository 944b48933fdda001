"""The commands for whoever operates it: doctor, reconcile, db, worker."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from runner.bootstrap.runner import Runner
from tests.program import CONFIG, Program
from tests.servers import replies
from tests.servers.messages_api import messages_api


@pytest.fixture
def database(program: Program) -> Iterator[sqlite3.Connection]:
    """The project's database, behind the program's back."""
    program.run("ps")
    with closing(sqlite3.connect(program.root / "runner.db", isolation_level=None)) as connection:
        yield connection


def test_the_doctor_finds_nothing_wrong(program: Program) -> None:
    done = program.run("doctor")

    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0] == ["VARIABLE", "IS", "NEEDED", "BY"]
    assert lines[1][:3] == ["RUNNER_TESTS_HAVE_NO_KEY", "not", "set"]
    assert lines[1][-1] == "config.yaml:3"
    assert {line[1] for line in lines[3:] if line[0] == "✓"} == {
        *("variables", "definitions", "database", "broker", "client", "turns")
    }


def test_programs_get_what_the_doctor_found(program: Program) -> None:
    found = program.run("doctor", "--json").document

    assert found["variables"] == [
        {
            "path": "config.yaml",
            "line": 3,
            "name": "RUNNER_TESTS_HAVE_NO_KEY",
            "is_set": False,
            "is_required": False,
        }
    ]
    assert {one["status"] for one in found["checks"]} == {"ok", "warning"}


def test_a_variable_that_is_set_is_said_to_be_set_and_no_more(program: Program) -> None:
    program.configure("broker: {queue: '${RUNNER_TESTS_QUEUE}'}\n")

    done = program.run_apart("doctor", environ={"RUNNER_TESTS_QUEUE": "swordfish"})

    assert done.code == 0
    row = next(line for line in done.out.splitlines() if line.startswith("RUNNER_TESTS_QUEUE"))
    assert row.split() == ["RUNNER_TESTS_QUEUE", "set", "config.yaml:8"]
    assert "swordfish" not in done.out


def test_a_missing_variable_is_named(program: Program) -> None:
    program.configure("database: {url: '${RUNNER_TESTS_HAVE_NO_DATABASE}'}\n")

    done = program.run("doctor")

    assert done.code == 1
    assert "✗ variables" in done.out
    assert "not set: RUNNER_TESTS_HAVE_NO_DATABASE" in done.out
    assert "✗ definitions" in done.out


def test_a_client_without_a_key_or_a_stand_in_is_wrong(program: Program) -> None:
    program.write(
        "config.yaml", 'clients: {anthropic: {type: anthropic, api_key: "${NO_SUCH_KEY:-}"}}\n'
    )

    done = program.run("doctor")

    assert done.code == 1
    assert "✗ client anthropic" in done.out


def test_a_broken_script_is_wrong(program: Program) -> None:
    program.write("script.yaml", "- answers: nothing\n")

    done = program.run("doctor")

    assert done.code == 1
    assert "✗ client offline" in done.out


def test_a_database_and_a_broker_that_do_not_answer_are_wrong(program: Program) -> None:
    program.configure(
        "database: {url: 'postgresql://127.0.0.1:1/none'}\nbroker: {url: 'redis://127.0.0.1:1'}\n",
    )

    done = program.run("doctor")

    assert done.code == 1
    assert "✗ database" in done.out
    assert "✗ broker" in done.out


def test_a_broker_that_answers_takes_a_wake_up(
    program: Program, redis_url: str, queue_name: str
) -> None:
    program.configure(f"broker: {{url: '{redis_url}', queue: {queue_name}}}\n")

    checks = program.run("doctor", "--json").document["checks"]

    assert {"broker": "ok"}.items() <= {one["name"]: one["status"] for one in checks}.items()


CLAUDE = """\
clients: {{anthropic: {{type: anthropic, api_key: key, base_url: "{url}", max_attempts: 1}}}}
models: {{default: {{client: anthropic, model: claude-sonnet-5-5}}}}
"""


def test_a_client_with_a_key_is_asked_for_a_few_tokens(program: Program) -> None:
    with messages_api([replies.say("ok")]) as server:
        program.write("config.yaml", CLAUDE.format(url=server.url))

        done = program.run("doctor")

    assert done.code == 0
    assert "answered (" in done.out
    assert len(server.requests) == 1


def test_a_client_whose_key_is_refused_is_wrong(program: Program) -> None:
    refusal = replies.Refusal(status=401, type="authentication_error", message="invalid x-api-key")
    with messages_api([refusal]) as server:
        program.write("config.yaml", CLAUDE.format(url=server.url))

        done = program.run("doctor")

    assert done.code == 1
    assert "✗ client anthropic" in done.out


def test_a_client_that_no_model_uses_is_not_asked(program: Program) -> None:
    unused = "clients:\n  spare: {type: anthropic, api_key: key, base_url: 'http://127.0.0.1:1'}\n"
    program.write("config.yaml", CONFIG.replace("clients:\n", unused))

    checks = program.run("doctor", "--json").document["checks"]

    (spare,) = [one for one in checks if one["name"] == "client spare"]
    assert spare["status"] == "ok"
    assert "no model of the config uses it" in spare["message"]


def test_a_turn_that_nobody_is_responsible_for_is_wrong(
    program: Program, database: sqlite3.Connection
) -> None:
    turn_id = program.run("submit", "hello", "hi").out.strip()
    database.execute("UPDATE turns SET due_at = NULL")

    done = program.run("doctor")

    assert done.code == 1
    assert f"{turn_id}: " in done.out


def begin(program: Program) -> str:
    """Leave a turn behind as a process does that dies while it runs one, and return its id."""
    with Runner(program.root / "config.yaml") as runner:
        wiring = runner.wiring
        order = runner._desk.task("hello", "hi", None, None)
        return wiring.reception.start(order, wiring.worker_id, lease=wiring.config.worker.lease).id


def test_reconcile_takes_back_the_turns_of_dead_workers(
    program: Program, database: sqlite3.Connection
) -> None:
    dead, waiting = begin(program), program.run("submit", "hello", "hi").out.strip()
    database.execute(
        "UPDATE turns SET lease_expires_at = 1, is_inline = FALSE WHERE status = 'running'"
    )

    done = program.run("reconcile", "--json")

    assert done.code == 0
    found = done.document
    assert found["released"] == [dead]
    assert set(found["due"]) == {dead, waiting}
    for nothing in ("overdue", "joined", "freed", "called_back", "errors"):
        assert found[nothing] == []


def test_a_turn_whose_own_process_died_is_stale_until_a_person_decides(
    program: Program, database: sqlite3.Connection
) -> None:
    turn_id = begin(program)
    database.execute("UPDATE turns SET lease_expires_at = 1")
    program.run("reconcile")

    shown = program.run("show", turn_id)
    resumed = program.run("resume", turn_id)

    assert shown.out.startswith(f"{turn_id}  stale\n")
    assert f"`runner resume {turn_id}`" in shown.out
    assert (resumed.code, resumed.out) == (0, f"{turn_id}  hello  goes on\n")
    assert program.run("show", turn_id, "--json").document["turn"]["status"] == "pending"


def test_reconcile_says_what_it_did(program: Program) -> None:
    program.run("submit", "hello", "hi")

    done = program.run("reconcile")

    assert done.code == 0
    assert done.out.splitlines() == [
        "no turns taken back from workers that died",
        "no turns out of time that held no worker",
        "no turns whose wait is over",
        "no turns of which nobody approved a call in time",
        "no turns freed by one whose time was over",
        "no turns to answer a callback that was owed",
        "1 turn due for a worker",
    ]


def test_an_audit_that_finds_nothing_says_so(program: Program) -> None:
    program.run("run", "hello", "hi")

    done = program.run("doctor", "--audit")

    assert done.code == 0
    assert "✓ audit" in done.out
    assert "✓ audit" not in program.run("doctor").out


def test_what_is_stored_and_must_not_be_is_wrong(
    program: Program, database: sqlite3.Connection
) -> None:
    program.run("run", "hello", "hi")
    (turn,) = program.run("ps", "--json").document
    database.execute("DELETE FROM events WHERE kind = 'turn.completed'")

    done = program.run("doctor", "--audit")

    assert done.code == 1
    assert any(line.startswith("✗ audit") and turn["id"] in line for line in done.out.splitlines())


def test_a_database_that_does_not_answer_is_wrong_once_with_an_audit_too(
    program: Program,
) -> None:
    program.configure("database: {url: 'postgresql://127.0.0.1:1/none'}\n")

    done = program.run("doctor", "--audit")

    assert done.code == 1
    assert "✗ database" in done.out
    assert "audit" not in done.out


def test_reconcile_fails_when_wake_ups_cannot_be_sent(program: Program) -> None:
    program.run("submit", "hello", "hi")
    program.configure("broker: {url: 'redis://127.0.0.1:1'}\n")

    done = program.run("reconcile")

    assert done.code == 1
    assert "1 turn due for a worker" in done.out
    assert done.err.startswith("error: cannot reach the broker at")


def test_an_empty_database_gets_its_schema(program: Program, empty_postgres_url: str) -> None:
    program.configure(f"database: {{url: '{empty_postgres_url}'}}\n")

    refused = program.run("ps")
    assert refused.code == 1
    assert "`runner db upgrade`" in refused.err
    assert program.run("db", "upgrade", "--check").code == 1
    assert program.run("db", "upgrade").code == 0
    assert program.run("db", "upgrade").code == 0
    assert program.run("db", "upgrade", "--check").code == 0
    assert program.run("ps").code == 0


def test_a_newer_schema_is_refused_by_every_command(
    program: Program, database: sqlite3.Connection
) -> None:
    database.execute("UPDATE alembic_version SET version_num = '9999'")

    for arguments in (["ps"], ["run", "hello", "hi"], ["db", "upgrade"], ["worker"]):
        done = program.run_apart(*arguments)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: the database has schema 9999, which is newer ")
        assert done.err.count("\n") == 1


def test_a_worker_uses_the_config_that_is_named(program: Program) -> None:
    (program.root / "config.yaml").rename(program.root / "other.yaml")
    program.write("config.yaml", "broker: {url: nonsense}\n")
    worker = program.start("--config", "other.yaml", "worker", "--processes", "1", "--threads", "2")
    try:
        assert worker.stdout is not None
        line = worker.stdout.readline()
    finally:
        worker.terminate()
        _, err = worker.communicate(timeout=60)

    assert "1 process of 2 threads" in line
    assert "other.yaml" in line
    assert "Traceback" not in err
