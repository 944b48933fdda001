"""What a project's policies say, in a file that a test may change while workers run."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from runner.core.authorization import ALLOWED, Action, Attempt, Effect, Lineage, Verdict

_FILE: Final = "policy.json"


class FileAuthority:
    """Says of each tool what the file says of it; without a file everything is allowed."""

    def __init__(self, root: Path) -> None:
        self._file = root / _FILE

    def decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        del lineage
        tool = attempt.tool
        if tool is None or attempt.action is Action.APPROVE or not self._file.exists():
            return ALLOWED
        said: Mapping[str, Mapping[str, float]] = json.loads(self._file.read_text())
        for effect, tools in said.items():
            if tool in tools:
                return Verdict(
                    effect=Effect(effect),
                    reason="The file says so.",
                    policy="file",
                    rule=effect,
                    source=f"{_FILE}:1",
                    layer="operator",
                    expires=timedelta(seconds=tools[tool]),
                )
        return ALLOWED


def set_policy(root: Path, effect: Effect, *tools: str, expires: timedelta) -> None:
    """Let workers be told *effect* of these tools from now on."""
    said = {effect.value: dict.fromkeys(tools, expires.total_seconds())}
    part = root / f"{_FILE}.part"
    part.write_text(json.dumps(said))
    part.rename(root / _FILE)
