"""Workers that cannot work say so in a sentence and end."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import Worker

COMMAND = [sys.executable, "-m", "runner", "worker"]


@pytest.fixture
def unfit(make_project: MakeProject, request: pytest.FixtureRequest) -> tuple[Project, str]:
    """A project in which no worker can run, and what is wrong with it."""
    project = make_project("sqlite-memory://")
    match request.param:
        case "schema":
            url = request.getfixturevalue("empty_postgres_url")
            Project(project.root, url, "memory://", project.queue).configure()
            return project, "run `runner db upgrade`"
        case "database":
            port = request.getfixturevalue("closed_port")
            url = f"postgresql://someone:hunter2@127.0.0.1:{port}/nowhere"
            Project(project.root, url, "memory://", project.queue).configure()
            return project, "database"
        case "queue":
            Project(project.root, project.database, "memory://", "0_queue").configure()
            return project, "expected a queue's name"
        case _:
            project.config.write_text("worker: {thread: 4}\n")
            return project, "config"


@pytest.mark.parametrize("unfit", ["schema", "database", "queue", "config"], indirect=True)
def test_a_worker_that_cannot_work_says_why_and_ends(unfit: tuple[Project, str]) -> None:
    project, reason = unfit

    worker = Worker(project)
    code = worker.wait()

    assert code == 1
    assert reason in next(line for line in worker.log.splitlines() if line.startswith("error: "))
    assert worker.log.count("error: ") == 1
    assert "Traceback" not in worker.log
    assert "hunter2" not in worker.log


@pytest.mark.parametrize("unfit", ["schema", "database", "queue", "config"], indirect=True)
def test_the_command_that_starts_a_worker_says_only_why_it_cannot(
    unfit: tuple[Project, str],
) -> None:
    project, reason = unfit

    command = subprocess.run(
        COMMAND, cwd=project.root, capture_output=True, text=True, timeout=90, check=False
    )

    assert command.returncode == 1
    assert command.stderr.startswith("error: ")
    assert reason in command.stderr
    assert command.stderr.count("\n") == 1
    assert command.stdout == ""


@pytest.fixture
def without_extras(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which no broker's package can be imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['redis'] = sys.modules['pika'] = None\n"
    )
    return os.environ | {"PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize("arguments", [["worker"], ["submit", "actor", "act once"]])
@pytest.mark.parametrize(("scheme", "extra"), [("redis", "redis"), ("amqp", "rabbitmq")])
def test_a_broker_whose_package_is_missing_names_the_command_to_install_it(
    make_project: MakeProject,
    without_extras: Mapping[str, str],
    scheme: str,
    extra: str,
    arguments: list[str],
) -> None:
    project = make_project(f"sqlite-{scheme}://127.0.0.1")

    command = subprocess.run(
        [sys.executable, "-m", "runner", *arguments],
        cwd=project.root,
        env=without_extras,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )

    assert command.returncode == 1
    assert f"pip install 'agent-runner[{extra}]'" in command.stderr
    assert command.stderr.count("\n") == 1
    assert list(project.runner.turns()) == []
