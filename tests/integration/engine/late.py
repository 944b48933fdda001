"""The built-in coordination tools, for benches that are made after their agents."""

from collections.abc import Callable

from runner.core.authorization import Action
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Tool, ToolContext
from runner.engine.coordination import CoordinationTool, coordination_rules
from tests.integration.engine.bench import Bench


class Late:
    """A coordination tool of a bench that is made after its agent."""

    def __init__(
        self, name: str, act: Callable[[Bench, JsonObject, ToolContext], JsonObject]
    ) -> None:
        self.bench: Bench | None = None
        self.runs = 0
        self._act = act
        self.tool: Tool = CoordinationTool(
            spec=ToolSpec(name=name, description=name, parameters={"type": "object"}),
            act=self._run,
            rules=coordination_rules(Action(name)),
        )

    def _run(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        assert self.bench is not None
        self.runs += 1
        return self._act(self.bench, arguments, context)


def launcher() -> Late:
    return Late("launch_agent", lambda bench, a, c: bench.coordination.launch(a, c))


def sender() -> Late:
    return Late("send_message", lambda bench, a, c: bench.coordination.send(a, c))
