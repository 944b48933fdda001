"""Sub-agents and joins as tools: what the model sees of work that other turns do."""

from dataclasses import dataclass

from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Carrier, ToolContext, ToolRules
from runner.definitions.coordination import sub_agent_parameters
from runner.definitions.json_schema import Validator
from runner.definitions.snapshot import SubAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatedTool:
    """A tool whose calls the engine hands to other turns, so that it is never invoked itself."""

    spec: ToolSpec
    rules: ToolRules

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return Validator(self.spec.parameters).complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        raise NotImplementedError(f"calls of {self.spec.name} are carried out by other turns")


def sub_agent_tool(sub_agent: SubAgent) -> DelegatedTool:
    """Offer a sub-agent to the model."""
    return DelegatedTool(
        spec=ToolSpec(
            name=sub_agent.name,
            description=sub_agent.description or f"Delegates a task to {sub_agent.name}.",
            parameters=sub_agent_parameters(sub_agent),
        ),
        rules=ToolRules(carrier=Carrier.SUB_AGENT),
    )
