"""The project that comes with the runner, copied to where a test may write."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from runner.bootstrap.wiring import Wiring
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import ToolCall
from runner.core.tooling import Tool
from runner.tools.results import returned
from tests.fakes.tools import tool_context

REPOSITORY: Final = Path(__file__).parents[1]
#: An environment without a key.
OFFLINE: Final[Mapping[str, str]] = {}

_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__")


@dataclass(frozen=True)
class ExampleProject:
    """A copy of the project's agents, config and documents."""

    root: Path

    @classmethod
    def copy_to(cls, root: Path) -> "ExampleProject":
        for folder in ("agents", "docs"):
            shutil.copytree(REPOSITORY / folder, root / folder, ignore=_LEFT_OUT)
        shutil.copy(REPOSITORY / "config.yaml", root)
        return cls(root)

    @property
    def config(self) -> Path:
        return self.root / "config.yaml"

    def tool(self, agent: str, name: str) -> Tool:
        """Bring one of an agent's tools to life."""
        wiring = Wiring(self.config, environ=OFFLINE, cwd=self.root)
        return wiring.catalog.agent(agent).tools[name]


def call(
    tool: Tool, arguments: Mapping[str, JsonValue], *, key: str = "turn_1:call_1"
) -> JsonObject:
    """
    Call a tool as a turn does and return what the model would read.

    Args:
        tool: What is called.
        arguments: Ones the tool must not complain of.
        key: The call's key; what stands before the colon is the turn.

    Raises:
        BaseException: Whatever the tool raised.
    """
    assert not tool.complaints(dict(arguments))
    turn_id = TurnId(key.partition(":")[0])
    context = replace(tool_context(), turn_id=turn_id, idempotency_key=key)
    asked = ToolCall(call_id="call_1", name=tool.spec.name, arguments=dict(arguments))
    value = tool.invoke(asked.arguments, context)
    return returned(asked, value, tool.rules.max_result_chars).content
