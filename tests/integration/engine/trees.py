"""Agents that delegate, for tests of launch trees."""

from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.ports import ModelClient
from runner.core.tooling import Carrier, Tool, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.runtime.agent import Agent
from runner.runtime.sub_agent import DelegatedTool
from tests.fakes.agents import make_agent

TASK: JsonObject = {
    "type": "object",
    "properties": {"task": {"type": "string"}},
    "required": ["task"],
    "additionalProperties": False,
}
TURN_IDS: JsonObject = {
    "type": "object",
    "properties": {"turn_ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["turn_ids"],
}


def delegate_to(name: str) -> Tool:
    """The agent *name* as a tool."""
    spec = ToolSpec(name=name, description=f"Delegates to {name}.", parameters=TASK)
    return DelegatedTool(spec=spec, rules=ToolRules(carrier=Carrier.SUB_AGENT))


def wait_for() -> Tool:
    spec = ToolSpec(name="wait_for", description="Waits for turns.", parameters=TURN_IDS)
    return DelegatedTool(spec=spec, rules=ToolRules(carrier=Carrier.JOIN))


def make_parent(
    client: ModelClient, *tools: Tool, limits: ResolvedLimits | None = None, name: str = "parent"
) -> Agent:
    return make_agent(client, delegate_to("child"), *tools, limits=limits, name=name)
