"""What makes an agent's definition whole and right, beyond its form."""

from collections.abc import Iterator
from pathlib import Path as FilePath

from pydantic import JsonValue

from runner.definitions import context_kind, policy_kind
from runner.definitions.agent import AgentDefinition, Limits
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.models import check_reference
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.schema_files import check_inline, include
from runner.definitions.skill import RESERVED_TOOLS
from runner.definitions.skill_kind import complete_all
from runner.definitions.skill_references import check_skills, tools_of_skills
from runner.definitions.sub_agents import check_loops, check_sub_agents
from runner.definitions.surroundings import Surroundings
from runner.definitions.text_files import read_text_of
from runner.definitions.tool_entries import check_tools, complete_tools, tool_name
from runner.definitions.variants import nearest

_SCHEMA_KEYS = ("input_schema", "output_schema")


def complete(
    agent: AgentDefinition, document: Document, at: Path = ()
) -> tuple[AgentDefinition, list[Problem], list[FilePath]]:
    """Make an agent independent of files: instructions, schemas and folders are put in."""
    changes: dict[str, object] = {}
    problems: list[Problem] = []
    files: list[FilePath] = []
    if agent.instructions_file is not None:
        text, path, found = read_text_of("instructions", agent.instructions_file, document, at)
        changes |= {"instructions": text, "instructions_file": None}
        problems += found
        files += [path] if path else []
    for key in _SCHEMA_KEYS:
        source: dict[str, JsonValue] | str | None = getattr(agent, key)
        if isinstance(source, str):
            changes[key], found, path = include(document, (*at, key), source)
            problems += found
            files += [path] if path else []
    changes["tools"], found = complete_tools(agent.tools, document, at)
    problems += found
    changes["policies"] = policy_kind.complete_entries(agent.policies, document, (*at, "policies"))
    for key in ("skills", "available_skills"):
        changes[key], found, more = complete_all(getattr(agent, key), document, (*at, key))
        problems += found
        files += more
    if agent.context is not None:
        place = (*at, "context")
        changes["context"], found = context_kind.complete_entries(agent.context, document, place)
        problems += found
    changes["sub_agents"], found, more = _complete_sub_agents(agent, document, at)
    return agent.model_copy(update=changes), problems + found, files + more


def check(
    agent: AgentDefinition, document: Document, surroundings: Surroundings
) -> Iterator[Problem]:
    """Tell what in an agent refers to what is not there."""
    yield from _check(agent, document, surroundings, ())
    yield from check_loops(agent, document, surroundings)


def _complete_sub_agents(
    agent: AgentDefinition, document: Document, at: Path
) -> tuple[tuple[str | AgentDefinition, ...], list[Problem], list[FilePath]]:
    sub_agents: list[str | AgentDefinition] = []
    problems: list[Problem] = []
    files: list[FilePath] = []
    for index, entry in enumerate(agent.sub_agents):
        if isinstance(entry, str):
            sub_agents.append(entry)
            continue
        completed, found, more = complete(entry, document, (*at, "sub_agents", index))
        sub_agents.append(completed)
        problems += found
        files += more
    return tuple(sub_agents), problems, files


def _check(
    agent: AgentDefinition, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if agent.model is not None:
        flaw = check_reference(agent.model, surroundings.config)
        if flaw and surroundings.unsure.isdisjoint({"clients", "models"}):
            yield document.problem((*at, "model"), flaw.code, flaw.message, hint=flaw.hint)
    for key in _SCHEMA_KEYS:
        schema = getattr(agent, key)
        if isinstance(document.plain((*at, key)), dict) and isinstance(schema, dict):
            yield from check_inline(document, (*at, key), schema)
    yield from check_tools(agent.tools, document, surroundings, at, owner="agent")
    yield from check_sub_agents(agent, document, surroundings, at)
    policies = agent.policies
    yield from policy_kind.check_entries(policies, document, surroundings, (*at, "policies"))
    yield from check_skills(agent, document, surroundings, at)
    yield from _check_sections(agent, document, at)
    yield from context_kind.check_entries(
        agent.context or (), document, surroundings, (*at, "context")
    )
    for index, entry in enumerate(agent.sub_agents):
        if not isinstance(entry, str):
            yield from _check(entry, document, surroundings, (*at, "sub_agents", index))
    if agent.limits is not None:
        yield from _check_limits(agent, agent.limits, document, surroundings, at)


def _check_sections(agent: AgentDefinition, document: Document, at: Path) -> Iterator[Problem]:
    sections = agent.prompt.sections if agent.prompt and agent.prompt.sections else ()
    for index, section in enumerate(sections):
        if section in sections[:index]:
            place: Path = (*at, "prompt", "sections", index)
            message = f"the section {section!r} is listed already"
            yield document.problem(place, Code.BAD_VALUE, message)


def _check_limits(
    agent: AgentDefinition,
    limits: Limits,
    document: Document,
    surroundings: Surroundings,
    at: Path,
) -> Iterator[Problem]:
    names = {
        *(entry if isinstance(entry, str) else entry.name for entry in agent.sub_agents),
        *map(tool_name, agent.tools),
        *tools_of_skills(agent, surroundings),
        *RESERVED_TOOLS,
    }
    for name in limits.max_tool_executions_by_name or {}:
        if name in names:
            continue
        meant = nearest(name, names)
        yield document.problem(
            (*at, "limits", "max_tool_executions_by_name", name),
            Code.UNKNOWN_TOOL,
            f"the agent has no tool {name!r}",
            hint=f"did you mean {meant!r}?" if meant else "",
            at_key=True,
        )
