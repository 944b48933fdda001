from pathlib import Path

import pytest
from pydantic import JsonValue

from runner.core.tree import TreeLimits
from runner.definitions.coordination import coordination_spec, launchable, sub_agent_parameters
from runner.definitions.json_schema import Validator, check_schema
from runner.definitions.snapshot import ResolvedAgent, ResolvedLimits, SubAgent, resolve
from runner.definitions.tool import (
    COORDINATION_TOOLS,
    CoordinationTool,
    LaunchAgentTool,
    WaitForTool,
)
from tests.unit.definitions.projects import load

LAUNCH = COORDINATION_TOOLS["launch_agent"]
HIRE = LaunchAgentTool(
    name="hire",
    builtin="launch_agent",
    description="Hire.",
    agents=("writer", "researcher", "writer"),
)


@pytest.fixture
def agent(tmp_path: Path) -> ResolvedAgent:
    files: dict[str, str | bytes] = {
        "agents/a.yaml": "sub_agents: [researcher, {name: checker}]\n"
        "tools: [launch_agent, {name: hire, builtin: launch_agent, agents: [writer, researcher]}]",
        "agents/researcher.yaml": "description: |\n  Finds\n  things.\n"
        "input_schema: {type: object, required: [topic]}\n",
        "agents/writer.yaml": "description: Writes.\n",
    }
    return resolve(load(tmp_path, files), "a")


def sub_agent(schema: dict[str, JsonValue] | None) -> SubAgent:
    return SubAgent(name="b", description="", input_schema=schema)


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [({"task": "Go."}, True), ({}, False), ({"task": ""}, False), ({"task": "x", "y": 1}, False)],
)
def test_a_sub_agent_takes_a_task(arguments: JsonValue, *, fits: bool) -> None:
    parameters = sub_agent_parameters(sub_agent(None))

    assert check_schema(parameters) == ()
    assert (Validator(parameters).complaints(arguments) == ()) is fits


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"task": "Go.", "input": {"topic": "x"}}, True),
        ({"task": "Go."}, False),
        ({"input": {"topic": "x"}}, False),
        ({"task": "Go.", "input": {"topic": 3}}, False),
    ],
)
def test_a_sub_agent_with_an_input_schema_needs_that_input(
    arguments: JsonValue, *, fits: bool
) -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"topic": {"$ref": "#/$defs/topic"}},
        "required": ["topic"],
        "$defs": {"topic": {"type": "string"}},
    }
    parameters = sub_agent_parameters(sub_agent(schema))

    assert check_schema(parameters) == ()
    assert (Validator(parameters).complaints(arguments) == ()) is fits


@pytest.mark.parametrize("tool", COORDINATION_TOOLS.values(), ids=lambda tool: tool.name)
def test_a_coordination_tool_has_a_text_and_a_schema_for_the_model(
    tool: CoordinationTool, agent: ResolvedAgent
) -> None:
    spec = coordination_spec(tool, agent)

    assert spec.name == tool.name
    assert spec.description.endswith(".")
    assert check_schema(dict(spec.parameters)) == ()  # type: ignore[arg-type]  # values are JSON


FITTING: list[tuple[str, JsonValue]] = [
    ("launch_agent", {"agent": "researcher", "task": "Go."}),
    ("launch_agent", {"agent": "checker", "task": "Go.", "input": [1], "callback": True}),
    ("wait_for", {"turn_ids": ["turn_1"]}),
    ("wait_for", {"turn_ids": [f"turn_{number}" for number in range(20)]}),
    ("send_message", {"conversation_id": "conv_1", "text": "Hi."}),
]
UNFIT: list[tuple[str, JsonValue]] = [
    ("launch_agent", {"agent": "writer", "task": "Go."}),
    ("launch_agent", {"agent": "researcher"}),
    ("launch_agent", {"agent": "researcher", "task": "Go.", "callback": "yes"}),
    ("wait_for", {"turn_ids": []}),
    ("wait_for", {"turn_ids": [f"turn_{number}" for number in range(21)]}),
    ("wait_for", {}),
    ("send_message", {"conversation_id": "conv_1"}),
    ("send_message", {"conversation_id": "conv_1", "text": ""}),
    ("send_message", {"conversation_id": "conv_1", "text": "Hi.", "key": "x"}),
]


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [*((*case, True) for case in FITTING), *((*case, False) for case in UNFIT)],
)
def test_what_a_coordination_tool_takes_is_fixed(
    name: str, arguments: JsonValue, agent: ResolvedAgent, *, fits: bool
) -> None:
    spec = coordination_spec(COORDINATION_TOOLS[name], agent)

    assert (Validator(spec.parameters).complaints(arguments) == ()) is fits


def test_a_declared_tool_has_its_own_name_and_description(agent: ResolvedAgent) -> None:
    spec = coordination_spec(HIRE, agent)

    assert (spec.name, spec.description) == ("hire", "Hire.")


def test_each_tool_launches_the_sub_agents_and_the_agents_it_names_once(
    agent: ResolvedAgent,
) -> None:
    assert isinstance(LAUNCH, LaunchAgentTool)
    assert [one.name for one in launchable(LAUNCH, agent)] == ["researcher", "checker"]
    assert [one.name for one in launchable(HIRE, agent)] == ["researcher", "checker", "writer"]


def test_the_model_reads_what_the_agents_are_for_and_take(agent: ResolvedAgent) -> None:
    properties = coordination_spec(HIRE, agent).parameters["properties"]

    assert isinstance(properties, dict)
    choice = properties["agent"]
    assert choice["enum"] == ["researcher", "checker", "writer"]
    assert choice["description"].splitlines() == [
        "Which agent:",
        '- researcher: Finds things. Its input must match {"required":["topic"],"type":"object"}',
        "- checker",
        "- writer: Writes.",
    ]


def test_the_names_of_coordination_tools_stand_for_themselves() -> None:
    assert all(tool.name == tool.builtin == name for name, tool in COORDINATION_TOOLS.items())
    assert isinstance(COORDINATION_TOOLS["wait_for"], WaitForTool)


def test_the_limits_of_trees_are_those_of_agents() -> None:
    limits, tree = ResolvedLimits(), TreeLimits()

    assert (limits.max_depth, limits.max_children, limits.max_fan_out) == (3, 50, 10)
    assert (limits.max_depth, limits.max_children) == (tree.max_depth, tree.max_children)
    assert limits.max_fan_out == tree.max_fan_out
