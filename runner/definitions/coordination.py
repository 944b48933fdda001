"""Sub-agents and the tools by which agents work together, as a model sees them."""

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from runner.core.jsonvalue import canonical_json
from runner.core.model import ToolSpec
from runner.definitions.schema_embedding import embedded
from runner.definitions.snapshot import ResolvedAgent, SubAgent
from runner.definitions.tool import CoordinationTool, LaunchAgentTool

#: How many turns one call may wait for.
MAX_AWAITED: Final = 20

#: Where the input of a sub-agent stands in the parameters of its tool.
INPUT_PLACE: Final = "/properties/input"

_TASK: Final[JsonValue] = {
    "type": "string",
    "minLength": 1,
    "description": "What is to be done, with all that the agent has to know: it sees nothing else.",
}

_DESCRIPTIONS: Final = {
    "launch_agent": (
        "Start an agent on a task without waiting for it. The answer has the turn_id to wait for"
        " and the conversation_id to write to."
    ),
    "wait_for": (
        "Wait until turns that were started before have ended. The answer has the result of each,"
        " in the order they are named."
    ),
    "send_message": (
        "Send a message to a conversation. Its agent reads it as soon as it is not busy; nothing"
        " waits for what it answers."
    ),
}

_PROPERTIES: Final[dict[str, dict[str, JsonValue]]] = {
    "launch_agent": {
        "agent": {"type": "string"},
        "task": _TASK,
        "input": {"description": "What the agent's input must be; only where that is said of it."},
        "callback": {
            "type": "boolean",
            "default": False,
            "description": "Whether its result is sent to this conversation when it has ended.",
        },
    },
    "wait_for": {
        "turn_ids": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "maxItems": MAX_AWAITED,
            "description": "The turns, by the turn_id that each got when it was started.",
        }
    },
    "send_message": {
        "conversation_id": {"type": "string", "minLength": 1, "description": "Which conversation."},
        "text": {"type": "string", "minLength": 1, "description": "The message."},
    },
}

_OPTIONAL: Final = frozenset({"input", "callback"})


def sub_agent_parameters(sub_agent: SubAgent) -> dict[str, JsonValue]:
    """Make the JSON Schema of the arguments with which a model gives a sub-agent its task."""
    properties: dict[str, JsonValue] = {"task": _TASK}
    if sub_agent.input_schema is not None:
        properties["input"] = embedded(sub_agent.input_schema, INPUT_PLACE)
    return _object(properties)


def coordination_spec(tool: CoordinationTool, agent: ResolvedAgent) -> ToolSpec:
    """Offer one of an agent's coordination tools to its model."""
    properties: dict[str, JsonValue] = dict(_PROPERTIES[tool.builtin])
    if isinstance(tool, LaunchAgentTool):
        properties["agent"] = _choice(launchable(tool, agent))
    return ToolSpec(
        name=tool.name,
        description=tool.description or _DESCRIPTIONS[tool.builtin],
        parameters=_object(properties, optional=_OPTIONAL),
    )


def launchable(tool: LaunchAgentTool, agent: ResolvedAgent) -> tuple[SubAgent, ...]:
    """Say which agents a tool may start: the sub-agents of the agent that has it, then its own."""
    named = {other.name: other for other in agent.launchable}
    others = (named[name] for name in dict.fromkeys(tool.agents) if name in named)
    return (*agent.sub_agents, *others)


def _choice(agents: Sequence[SubAgent]) -> dict[str, JsonValue]:
    return {
        "type": "string",
        "enum": [agent.name for agent in agents],
        "description": "\n".join(("Which agent:", *(_line(agent) for agent in agents))),
    }


def _line(agent: SubAgent) -> str:
    line = f"- {agent.name}: {' '.join(agent.description.split())}".removesuffix(": ")
    if agent.input_schema is None:
        return line
    return f"{line} Its input must match {canonical_json(agent.input_schema)}"


def _object(
    properties: dict[str, JsonValue], *, optional: frozenset[str] = frozenset()
) -> dict[str, JsonValue]:
    required: list[JsonValue] = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
