"""Whether the agents that an agent may start can be started by it."""

from collections.abc import Iterator

from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.launch_graph import launch_tool
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem, Severity
from runner.definitions.schema_embedding import embedded
from runner.definitions.surroundings import Surroundings
from runner.definitions.variants import nearest


def check_sub_agents(
    agent: AgentDefinition, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    """Tell what is wrong with an agent's sub-agents, but for what is written inside of them."""
    tools = {tool if isinstance(tool, str) else tool.name for tool in agent.tools}
    seen = set[str]()
    for index, entry in enumerate(agent.sub_agents):
        place: Path = (*at, "sub_agents", index)
        name = entry if isinstance(entry, str) else entry.name
        if name in tools or name in seen:
            what = "a tool" if name in tools else "a sub-agent"
            message = f"the agent has {what} named {name!r} already"
            yield document.problem(place, Code.DUPLICATE_TOOL, message)
        elif isinstance(entry, str):
            yield from check_name(entry, document, surroundings, place)
            yield from _check_input(surroundings.agents.get(entry), document, place)
        else:
            yield from _check_own_name(entry, document, surroundings, place)
            yield from _check_input(entry, document, place)
        seen.add(name)
    yield from _check_launching(agent, document, surroundings, at)


def check_loops(
    agent: AgentDefinition, document: Document, surroundings: Surroundings
) -> Iterator[Problem]:
    """Warn where it is written in an agent's document that an agent can reach itself."""
    if surroundings.agents.get(agent.name) is not agent:
        return
    for loop in surroundings.loops.get(agent.name, ()):
        yield document.problem(
            loop.place,
            Code.AGENT_LOOP,
            f"an agent can reach itself: {loop.way}",
            hint="only the limits of the first turn end that",
            severity=Severity.WARNING,
        )


def check_name(
    name: str, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    """Tell that no agent has this name."""
    if name in surroundings.agents:
        return
    meant = nearest(name, surroundings.agents)
    if name in surroundings.tools:
        hint = "it is a tool: name it under tools"
    else:
        hint = f"did you mean {meant!r}?" if meant else "define it in a file without kind"
    yield document.problem(at, Code.UNKNOWN_AGENT, f"no agent {name!r}", hint=hint)


def _check_own_name(
    inner: AgentDefinition, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if surroundings.agents.get(inner.name) is not None:
        yield document.problem(
            (*at, "name"),
            Code.DUPLICATE_DEFINITION,
            f"the agent {inner.name!r} is defined already in a file of its own",
            hint="name that one here, or choose another name",
        )


def _check_input(child: AgentDefinition | None, document: Document, at: Path) -> Iterator[Problem]:
    if child is None or not isinstance(child.input_schema, dict):
        return
    try:
        embedded(child.input_schema, "")
    except ValueError as error:
        message = f"the input_schema of {child.name!r} cannot be part of a tool's: {error}"
        yield document.problem(at, Code.BAD_SCHEMA, message)


def _check_launching(
    agent: AgentDefinition, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if agent.sub_agents or document.has((*at, "sub_agents", 0)):
        return
    for index, entry in enumerate(agent.tools):
        tool = launch_tool(entry, surroundings.tools)
        if tool is not None and not tool.agents:
            yield document.problem(
                (*at, "tools", index),
                Code.NOTHING_TO_LAUNCH,
                f"the agent has nobody to start with {tool.name!r}, so it goes without",
                hint="list agents under sub_agents, or under the tool's key agents",
                severity=Severity.WARNING,
            )
