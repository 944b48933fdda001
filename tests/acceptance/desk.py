"""The support desk of the examples, as tests need it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner import Given, Runner, Subject
from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn
from tests.acceptance.example_commands import environ_of
from tests.example_project import OFFLINE, REPOSITORY, ExampleProject

LENA: JsonObject = {"user": "lena", "role": "clerk", "team": "north"}
OMAR: JsonObject = {"user": "omar", "role": "supervisor", "team": "north"}
LARGE, SMALL = "4711", "4712"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The example with its accounts, over a database of the test's."""

    example: ExampleProject
    environ: Mapping[str, str] = field(default_factory=lambda: OFFLINE)

    def runner(self, principal: JsonObject = LENA) -> Runner:
        return Runner(self.example.config, environ=self.environ, principal=principal)

    @property
    def ledger(self) -> list[JsonObject]:
        """What was paid back, a line each."""
        file = self.example.root / "out/desk/ledger.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def letters(self) -> list[str]:
        return [file.read_text() for file in self.example.root.glob("out/desk/letters/*.md")]


def make_accounts(example: ExampleProject) -> None:
    """Make the accounts as people do."""
    scripts = example.root / "scripts"
    scripts.mkdir()
    for name in ("accounts.py", "desk"):
        (scripts / name).write_bytes((REPOSITORY / "scripts" / name).read_bytes())
    program: list[str | Path] = [sys.executable, scripts / "accounts.py"]
    subprocess.run(program, env=environ_of(example), check=True, capture_output=True)


def given(ticket: str, account: int = 7) -> Given:
    """What a ticket is submitted with."""
    data = REPOSITORY / "agents/data/desk" / f"ticket_{ticket}.json"
    subject = Subject(**json.loads(data.read_text("utf-8")))
    return Given(subject=subject, context={"account": account})


def work(runner: Runner, turn: Turn) -> Turn:
    """Have a worker of this process take a tree as far as it goes."""
    for _ in range(3):
        for each in runner.tree(turn.id):
            runner.wiring.turn_worker.work_on(each.id)
    return runner.turn(turn.id)
