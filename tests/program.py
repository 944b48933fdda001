"""The command line, used in a project of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner.cli.main import main

CONFIG = """\
clients:
  offline: {type: scripted, scripts: [script.yaml]}
  anthropic: {type: anthropic, api_key: "${RUNNER_TESTS_HAVE_NO_KEY:-}", without_key: offline}
models:
  default: {client: offline, model: scripted-1}
  cloud: {client: anthropic, model: claude-1}
python_modules: [python/]
"""
AGENT = """\
name: hello
description: Greets whoever writes.
model: default
instructions: Answer with a greeting.
"""
SCRIPT = """\
- agent: hello
  answers:
    - text: "Hello! You said: {task}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:  # noqa: ANN401 - a test looks into whatever was printed
        """Standard output as the one JSON document it is."""
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """Standard output as JSON documents, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def untimed(text: str) -> list[str]:
    """The lines of what a command told, without how long each call took."""
    return [re.sub(r"  \d+\.\ds$", "", line) for line in text.splitlines()]


class Program:
    """The program and a project with one agent that answers from a script."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys
        self.write("config.yaml", CONFIG)
        self.write("agents/hello.yaml", AGENT)
        self.write("script.yaml", SCRIPT)
        self.write("python/notes.py", "")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Finished:
        """Run a command in this process."""
        self._capsys.readouterr()
        code = main(["--config", str(self.root / "config.yaml"), *arguments])
        out, err = self._capsys.readouterr()
        return Finished(code=code, out=out, err=err)

    def configure(self, text: str) -> None:
        """Add to the config, which has its clients, models and modules already."""
        self.write("config.yaml", CONFIG + text)

    def start(
        self, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Begin a command in a process of its own, in the project's folder."""
        return subprocess.Popen(
            [sys.executable, "-m", "runner", *arguments],
            cwd=self.root,
            env={**os.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run_apart(
        self, *arguments: str, typed: str = "", environ: Mapping[str, str] | None = None
    ) -> Finished:
        """Run a command in a process of its own, in the project's folder, with *typed* as input."""
        process = self.start(*arguments, environ=environ)
        out, err = process.communicate(typed, timeout=120)
        return Finished(code=process.returncode, out=out, err=err)
