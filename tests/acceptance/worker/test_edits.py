"""Definitions edited while workers run."""

import subprocess
import sys

import pytest

from runner.core.states import TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.waiting import until

HELLO = """\
name: hello
description: Greets whoever writes.
model: default
instructions: |
  Answer with a greeting.
"""


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    return make_project("sqlite-memory://")


def test_an_agent_dropped_into_the_folder_is_run_by_a_worker_that_was_already_running(
    project: Project,
) -> None:
    with working(project) as worker:
        worker.wait_until_ready()
        (project.root / "agents" / "hello.yaml").write_text(HELLO)
        command = subprocess.run(
            [sys.executable, "-m", "runner", "submit", "hello", "good morning", "--wait"],
            cwd=project.root,
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        )

    assert "Hello! You said: good morning" in command.stdout


def test_an_edit_that_breaks_a_file_is_reported_and_mending_it_takes_effect(
    project: Project,
) -> None:
    file = project.root / "agents" / "hello.yaml"
    file.write_text(HELLO)

    with working(project) as worker:
        worker.wait_until_ready()
        first = project.runner.wait(project.runner.submit("hello", "one").id)
        file.write_text(HELLO.replace("instructions", "instrucions"))
        until(lambda: "agents/hello.yaml:4:1: " in worker.log, "the problem to be reported")
        second = project.runner.wait(project.runner.submit("hello", "two").id)
        file.write_text(HELLO.replace("a greeting", "two greetings"))
        until(lambda: "no problems any more" in worker.log, "the mending to be noticed")
        third = project.runner.wait(project.runner.submit("hello", "three").id)

    assert {turn.status for turn in (first, second, third)} == {TurnStatus.COMPLETED}
    assert second.definition_hash == first.definition_hash
    assert third.definition_hash != first.definition_hash
    assert worker.log.count("agents/hello.yaml:4:1") == 1
    assert "(did you mean 'instructions'?)" in worker.log
    assert worker.log.count("the last good ones stay in force") == 1


def test_a_worker_that_starts_with_broken_definitions_runs_what_is_stored(
    project: Project,
) -> None:
    file = project.root / "agents" / "hello.yaml"
    file.write_text(HELLO)
    turn = project.runner.submit("hello", "one")
    file.write_text(HELLO.replace("instructions", "instrucions"))

    with working(project) as worker:
        ended = project.runner.wait(turn.id)
        until(lambda: "agents/hello.yaml:4:1: " in worker.log, "the problem to be reported")

    assert ended.status is TurnStatus.COMPLETED
    assert "turns that are stored run, new ones are refused" in worker.log


def test_a_turn_finishes_with_the_definitions_it_began_with(project: Project) -> None:
    file = project.root / "agents" / "actor.yaml"
    before = file.read_text()
    project.shut("b")
    turn = project.runner.submit("actor", "act twice in a row")

    with working(project) as worker:
        until(lambda: project.count("begin", "b"), "the second tool to begin")
        worker.kill()
    file.write_text(before.replace("  - name: act_safely", "  - name: act_otherwise"))
    project.open("b")
    with working(project):
        ended = project.runner.wait(turn.id)
        following = project.runner.wait(project.runner.submit("actor", "act twice in a row").id)

    assert ended.status is TurnStatus.COMPLETED
    assert {status.value for status in project.outcomes(turn.id)} == {"completed"}
    assert [status.value for status in project.outcomes(following.id)] == ["completed", "refused"]
