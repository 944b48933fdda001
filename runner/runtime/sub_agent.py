"""Sub-agents and joins as tools: what the model sees of work that other turns do."""

from dataclasses import dataclass

from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import ToolContext, ToolRules
from runner.definitions.json_schema import Validator


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatedTool:
    """A tool whose calls the engine hands to other turns, so that it is never invoked itself."""

    spec: ToolSpec
    rules: ToolRules

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return Validator(self.spec.parameters).complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        raise NotImplementedError(f"calls of {self.spec.name} are carried out by other turns")
