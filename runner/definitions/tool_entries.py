"""Lists of tools, as agents and skills have them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from runner.definitions import tool_kind
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.skill import RESERVED_TOOLS
from runner.definitions.surroundings import Surroundings
from runner.definitions.tool import COORDINATION_TOOLS, ToolDefinition, ToolEntry
from runner.definitions.variants import nearest


def complete_tools(
    entries: Sequence[ToolEntry], document: Document, at: Path
) -> tuple[tuple[str | ToolDefinition, ...], list[Problem]]:
    """Make the tools that are written in a list independent of the file."""
    tools: list[str | ToolDefinition] = []
    problems: list[Problem] = []
    for index, tool in enumerate(entries):
        if isinstance(tool, str):
            tools.append(tool)
            continue
        completed, found = tool_kind.complete(tool, document, (*at, "tools", index))
        tools.append(completed)
        problems += found
    return tuple(tools), problems


def check_tools(
    entries: Sequence[ToolEntry],
    document: Document,
    surroundings: Surroundings,
    at: Path,
    *,
    owner: str,
) -> Iterator[Problem]:
    """Tell what in a list of tools is not there, or there twice."""
    seen = Counter[str]()
    for index, tool in enumerate(entries):
        place: Path = (*at, "tools", index)
        name = tool_name(tool)
        seen[name] += 1
        if seen[name] > 1:
            message = f"the {owner} has the tool {name!r} already"
            yield document.problem(place, Code.DUPLICATE_TOOL, message)
        elif not isinstance(tool, str):
            yield from tool_kind.check(tool, document, surroundings, place)
        elif tool not in surroundings.tools and tool not in COORDINATION_TOOLS:
            hint = _hint(tool, surroundings)
            yield document.problem(place, Code.UNKNOWN_TOOL, f"no tool {tool!r}", hint=hint)


def tool_name(entry: ToolEntry) -> str:
    """Say which tool an entry of a list means."""
    return entry if isinstance(entry, str) else entry.name


def _hint(name: str, surroundings: Surroundings) -> str:
    if name in surroundings.agents:
        return "it is an agent: name it under sub_agents"
    if name == "read_file":
        return "write it here, as {name: read_file, builtin: read_file}"
    if name in RESERVED_TOOLS:
        return "an agent has it by itself, once it has skills for it"
    if name in surroundings.skills:
        return "it is a skill: name it under skills or available_skills"
    meant = nearest(name, {**surroundings.tools, **COORDINATION_TOOLS})
    return f"did you mean {meant!r}?" if meant else "define it in a file with kind: tool"
