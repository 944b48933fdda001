"""Imports the functions that files name, which validation by itself never does."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.core.errors import ConfigError
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.definition_file import read_definitions
from runner.definitions.nodes import Path
from runner.definitions.policy import PolicyDefinition, PythonPolicy, RulesPolicy
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.skill import SkillEntry
from runner.definitions.tool import (
    BuiltinTool,
    LaunchAgentTool,
    SendMessageTool,
    ToolDefinition,
    ToolEntry,
    WaitForTool,
)
from runner.tools.factory import build_tool
from runner.tools.loading import load_function
from runner.tools.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A tool or a policy, and where it is written."""

    what: ToolDefinition | PolicyDefinition
    #: The kind and name of the definition it is, or is a part of.
    owner: tuple[str, str]
    #: Where it is in that definition.
    at: Path


def import_problems(project: Project) -> Iterator[Problem]:
    """Bring all that has something to import to life; tell what cannot be, at what it names."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for written in _all(project):
        try:
            _bring_to_life(written.what, surroundings)
        except ConfigError as error:
            yield _problem(project, written, str(error))
    for policy in project.config.authorization:
        if isinstance(policy, PythonPolicy):
            yield from _problems_in_config(policy, surroundings)


def _problems_in_config(policy: PythonPolicy, surroundings: Surroundings) -> Iterator[Problem]:
    try:
        load_function(policy.python, surroundings)
    except ConfigError as error:
        path, _, line = policy.written_at.rpartition(":")
        yield Problem(
            path=path, line=int(line), column=1, code=Code.IMPORT_FAILED, message=str(error)
        )


def _bring_to_life(what: ToolDefinition | PolicyDefinition, surroundings: Surroundings) -> None:
    match what:
        case PythonPolicy():
            load_function(what.python, surroundings)
        case RulesPolicy() | LaunchAgentTool() | WaitForTool() | SendMessageTool():
            return
        case _:
            build_tool(what, surroundings)


def _all(project: Project) -> Iterator[_Written]:
    for name, policy in project.registry.policies.items():
        yield _Written(what=policy, owner=("policy", name), at=())
    for name, tool in project.registry.tools.items():
        yield _Written(what=tool, owner=("tool", name), at=())
    for name, agent in project.registry.agents.items():
        yield from _written_in(agent, ("agent", name), ())
    for name, skill in project.registry.skills.items():
        yield from _tools_in(skill.tools, ("skill", name), ())


def _written_in(agent: AgentDefinition, owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    """Yield the tools and policies written in an agent, and in the agents written in it."""
    yield from _tools_in(agent.tools, owner, at)
    for index, policy in enumerate(agent.policies):
        if not isinstance(policy, str):
            yield _Written(what=policy, owner=owner, at=(*at, "policies", index))
    for key in ("skills", "available_skills"):
        entries: tuple[SkillEntry, ...] = getattr(agent, key)
        for index, skill in enumerate(entries):
            if not isinstance(skill, str):
                yield from _tools_in(skill.tools, owner, (*at, key, index))
    for index, inner in enumerate(agent.sub_agents):
        if not isinstance(inner, str):
            yield from _written_in(inner, owner, (*at, "sub_agents", index))


def _tools_in(entries: Sequence[ToolEntry], owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, str):
            yield _Written(what=entry, owner=owner, at=(*at, "tools", index))


def _problem(project: Project, written: _Written, message: str) -> Problem:
    """Find the place of a mistake by reading the file again: definitions keep none inside them."""
    origin = project.registry.origins[written.owner]
    key = "builtin" if isinstance(written.what, BuiltinTool) else "python"
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
