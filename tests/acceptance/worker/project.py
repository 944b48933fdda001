"""A project in a folder of its own, whose tools leave a trace of everything they do."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner import Runner
from runner.core.states import ExecutionStatus

#: The files that every project here begins with.
_TEMPLATE = Path(__file__).with_name("template")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a tool wrote down: `begin` before its effect, `end` after it."""

    what: str
    name: str
    key: str
    pid: int


@dataclass(frozen=True)
class Project:
    """A copy of the template, with a database and a queue of its own."""

    root: Path
    database: str
    broker: str
    queue: str

    @classmethod
    def create(
        cls, root: Path, *, database: str, broker: str, queue: str, **worker: str | int
    ) -> "Project":
        """Write the project; *worker* are keys of the config's `worker:`."""
        shutil.copytree(_TEMPLATE, root, dirs_exist_ok=True)
        (root / "gates").mkdir(exist_ok=True)
        project = cls(root, database, broker, queue)
        project.configure(**worker)
        return project

    @property
    def config(self) -> Path:
        return self.root / "config.yaml"

    def configure(self, **worker: str | int) -> None:
        """Write the config anew."""
        settings: Mapping[str, object] = {
            "database": {"url": self.database},
            "broker": {"url": self.broker, "queue": self.queue},
            "worker": {"threads": 4, "lease": "3s", "grace": "6s", "interval": "300ms"} | worker,
            "clients": {"script": {"type": "scripted", "scripts": ["answers.yaml"]}},
            "models": {"default": {"client": "script", "model": "scripted"}},
            "python_modules": ["tools/"],
        }
        self.config.write_text(json.dumps(settings, indent=1))

    @cached_property
    def runner(self) -> Runner:
        """The Python API, for submitting and looking."""
        return Runner(self.config)

    def close(self) -> None:
        """Let go, and see that somebody is responsible for every turn."""
        if "runner" in vars(self):
            unattended = list(self.runner.unattended())
            self.runner.close()
            assert unattended == []

    @property
    def ledger(self) -> list[Entry]:
        """All that tools wrote down, in order."""
        file = self.root / "ledger"
        lines = file.read_text().splitlines() if file.exists() else []
        return [
            Entry(what=what, name=name, key=key, pid=int(pid))
            for what, name, key, pid in (line.split("|") for line in lines)
        ]

    def count(self, what: str, name: str) -> int:
        """Say how often a tool wrote that down."""
        return sum(entry.what == what and entry.name == name for entry in self.ledger)

    def shut(self, name: str) -> None:
        """Make the tool that is called with *name* wait before it has its effect."""
        (self.root / "gates" / name).touch()

    def open(self, name: str) -> None:
        """Let the tools called with *name* go on."""
        (self.root / "gates" / name).unlink()

    def events(self, turn_id: str, kind: str) -> int:
        """Say how often that happened to a turn."""
        return sum(event.kind == kind for event in self.runner.events(turn_id))

    def outcomes(self, turn_id: str) -> list[ExecutionStatus]:
        """Return how a turn's tool executions stand, in call order."""
        return [run.status for run in self.runner.executions(turn_id)]

    def has_ended(self, turn_id: str) -> bool:
        return self.runner.turn(turn_id).status.is_ended
