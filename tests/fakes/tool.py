"""A tool that is a function."""

from collections.abc import Callable

from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import ToolContext, ToolRules


class FakeTool:
    """Calls a function with the arguments and the context, and keeps the arguments."""

    def __init__(
        self,
        name: str,
        function: Callable[[JsonObject, ToolContext], object] = lambda _arguments, _context: "ok",
        *,
        rules: ToolRules | None = None,
        requires: tuple[str, ...] = (),
    ) -> None:
        self.spec = ToolSpec(
            name=name, description=f"The tool {name}.", parameters={"type": "object"}
        )
        self.rules = rules or ToolRules()
        self.calls: list[JsonObject] = []
        self.keys: list[str] = []
        self._function = function
        self._requires = requires

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return tuple(f"{key!r} is missing" for key in self._requires if key not in arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        self.calls.append(arguments)
        self.keys.append(context.idempotency_key)
        return self._function(arguments, context)
