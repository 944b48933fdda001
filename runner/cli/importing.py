"""Imports the functions that tools name, which validation by itself never does."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.core.errors import ConfigError
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.definition_file import read_definitions
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.skill import SkillEntry
from runner.definitions.tool import CoordinationTool, PythonTool, ToolDefinition, ToolEntry
from runner.tools.factory import build_tool
from runner.tools.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A tool, and where it is written."""

    tool: ToolDefinition
    #: The kind and name of the definition it is, or is a part of.
    owner: tuple[str, str]
    #: Where it is in that definition.
    at: Path


def import_problems(project: Project) -> Iterator[Problem]:
    """Bring every tool with something to import to life; tell which cannot be, at what it names."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for written in _tools(project):
        if isinstance(written.tool, CoordinationTool):
            continue
        try:
            build_tool(written.tool, surroundings)
        except ConfigError as error:
            yield _problem(project, written, str(error))


def _tools(project: Project) -> Iterator[_Written]:
    for name, tool in project.registry.tools.items():
        yield _Written(tool=tool, owner=("tool", name), at=())
    for name, agent in project.registry.agents.items():
        yield from _tools_of(agent, ("agent", name), ())
    for name, skill in project.registry.skills.items():
        yield from _tools_in(skill.tools, ("skill", name), ())


def _tools_of(agent: AgentDefinition, owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    """Yield the tools written in an agent, and in the agents written in it."""
    yield from _tools_in(agent.tools, owner, at)
    for key in ("skills", "available_skills"):
        entries: tuple[SkillEntry, ...] = getattr(agent, key)
        for index, skill in enumerate(entries):
            if not isinstance(skill, str):
                yield from _tools_in(skill.tools, owner, (*at, key, index))
    for index, inner in enumerate(agent.sub_agents):
        if not isinstance(inner, str):
            yield from _tools_of(inner, owner, (*at, "sub_agents", index))


def _tools_in(entries: Sequence[ToolEntry], owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, str):
            yield _Written(tool=entry, owner=owner, at=(*at, "tools", index))


def _problem(project: Project, written: _Written, message: str) -> Problem:
    """Find the place of a mistake by reading the file again: definitions keep none inside them."""
    origin = project.registry.origins[written.owner]
    key = "python" if isinstance(written.tool, PythonTool) else "builtin"
    file = read_definitions(project.root / origin.path, project.root, os.environ)
    for draft in file.drafts:
        if (draft.kind, draft.name) == written.owner:
            found = draft.document.problem((*written.at, key), Code.IMPORT_FAILED, message)
            (shown,) = file.source.show([found], ())
            return shown
    # The file was edited meanwhile.
    return Problem(
        path=origin.path,
        line=origin.line,
        column=origin.column,
        code=Code.IMPORT_FAILED,
        message=message,
    )
