"""What a command loads: people wait for it, so that it is no more than the command needs."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"alembic", "anthropic", "dramatiq", "genai_prices", "psycopg", "sqlalchemy"}

AGENT = """\
name: hello
description: Greets whoever writes.
model: default
instructions: |
  Answer with a greeting.
"""

CONFIG = "clients: {offline: {type: scripted, scripts: [answers.yaml]}}\n"


def loaded_by(*arguments: str, folder: Path) -> set[str]:
    """Run a command in *folder* and return the outermost packages it imported."""
    command = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "runner", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    timings = [line for line in command.stderr.splitlines() if line.startswith("import time:")]
    rest = set(command.stderr.splitlines()) - set(timings)
    assert command.returncode == 0, rest
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in timings}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--help"], id="help"),
        pytest.param(["validate"], id="validate"),
        pytest.param(["validate", "--help"], id="help-of-a-command"),
    ],
)
def test_a_light_command_loads_neither_a_provider_nor_the_database(
    arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hello.yaml").write_text(AGENT)
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "answers.yaml").write_text("- {agent: hello, answers: [{text: Hi.}]}\n")

    loaded = loaded_by(*arguments, folder=tmp_path)

    assert "runner" in loaded
    assert not loaded & HEAVY
