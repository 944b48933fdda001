"""Which agent may start which, and where that leads in a circle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from runner.definitions.agent import AgentDefinition
from runner.definitions.nodes import Path
from runner.definitions.skill import SkillDefinition, SkillEntry
from runner.definitions.tool import COORDINATION_TOOLS, LaunchAgentTool, ToolDefinition, ToolEntry

#: An agent by its name, behind those of the agents that it is written inside of.
Node: TypeAlias = tuple[str, ...]

#: Longer ways are shown without their middle.
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A way from an agent back to itself."""

    #: Where in the agent's document its last part is written.
    place: Path
    #: Names with arrows between them.
    way: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    source: Node
    target: Node
    place: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What agents may name, by name."""

    tools: Mapping[str, ToolDefinition | None]
    skills: Mapping[str, SkillDefinition | None]


def launch_tool(
    entry: str | ToolDefinition, tools: Mapping[str, ToolDefinition | None]
) -> LaunchAgentTool | None:
    """Say which tool for starting agents an entry of an agent's `tools` stands for, if any."""
    if isinstance(entry, str):
        tool = tools[entry] if entry in tools else COORDINATION_TOOLS.get(entry)
    else:
        tool = entry
    return tool if isinstance(tool, LaunchAgentTool) else None


def loops(
    agents: Mapping[str, AgentDefinition | None],
    tools: Mapping[str, ToolDefinition | None],
    skills: Mapping[str, SkillDefinition | None],
) -> dict[str, tuple[Loop, ...]]:
    """
    Find where agents can reach themselves.

    Without the places that are told there is no circle left. Each agent is looked at once.
    """
    known = _Known(tools=tools, skills=skills)
    edges: dict[Node, list[_Edge]] = {}
    for name, agent in agents.items():
        for edge in _edges(agent, (name,), (), known) if agent else ():
            edges.setdefault(edge.source, []).append(edge)
    found: dict[str, list[Loop]] = {}
    ended: set[Node] = set()
    for name in agents:
        for edge, way in _closing((name,), edges, ended):
            found.setdefault(edge.source[0], []).append(Loop(place=edge.place, way=way))
    return {name: tuple(of_agent) for name, of_agent in found.items()}


def _edges(agent: AgentDefinition, node: Node, at: Path, known: _Known) -> Iterator[_Edge]:
    for index, entry in enumerate(agent.sub_agents):
        place: Path = (*at, "sub_agents", index)
        if isinstance(entry, str):
            yield _Edge(source=node, target=(entry,), place=place)
        else:
            inner = (*node, entry.name)
            yield _Edge(source=node, target=inner, place=place)
            yield from _edges(entry, inner, place, known)
    for place, listed in _tools(agent, at, known.skills):
        tool = launch_tool(listed, known.tools)
        for name in tool.agents if tool else ():
            yield _Edge(source=node, target=(name,), place=place)


def _tools(
    agent: AgentDefinition, at: Path, skills: Mapping[str, SkillDefinition | None]
) -> Iterator[tuple[Path, ToolEntry]]:
    """Return an agent's tools and those of its skills, with where the agent names them."""
    for index, listed in enumerate(agent.tools):
        yield (*at, "tools", index), listed
    for key in ("skills", "available_skills"):
        entries: tuple[SkillEntry, ...] = getattr(agent, key)
        for index, entry in enumerate(entries):
            skill = skills.get(entry) if isinstance(entry, str) else entry
            for listed in skill.tools if skill else ():
                yield (*at, key, index), listed


def _closing(
    start: Node, edges: Mapping[Node, list[_Edge]], ended: set[Node]
) -> Iterator[tuple[_Edge, str]]:
    """Walk in depth from an agent; give each edge that leads back, and the circle it closes."""
    if start in ended:
        return
    way, open_edges = [start], [iter(edges.get(start, ()))]
    places = {start: 0}
    while way:
        edge = next(open_edges[-1], None)
        if edge is None:
            open_edges.pop()
            ended.add(way[-1])
            del places[way.pop()]
        elif edge.target in places:
            yield edge, _shown(way, places[edge.target])
        elif edge.target not in ended:
            places[edge.target] = len(way)
            way.append(edge.target)
            open_edges.append(iter(edges.get(edge.target, ())))


def _shown(way: list[Node], first: int) -> str:
    """Write the circle that the end of a way makes with an earlier place on it."""
    if len(way) - first < _SHOWN:
        names = [node[-1] for node in (*way[first:], way[first])]
    else:
        half = _SHOWN // 2
        before, after = way[first : first + half], (*way[1 - half :], way[first])
        names = [*(node[-1] for node in before), "…", *(node[-1] for node in after)]
    return " → ".join(names)
