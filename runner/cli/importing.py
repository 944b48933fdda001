"""Imports the functions that files name, which validation by itself never does."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from runner.context.python import build_python
from runner.core.errors import ConfigError
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.context import CommonContextKeys, ContextDefinition, PythonContext
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
    WaitForTool,
)
from runner.tools.factory import build_tool
from runner.tools.loading import load_function
from runner.tools.surroundings import Surroundings

#: What may name a function.
Part: TypeAlias = ToolDefinition | PolicyDefinition | ContextDefinition

#: Stands for the config where it holds a definition itself.
_CONFIG: Final = ("config", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """Something that may have to be imported, and where it is written."""

    what: Part
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
            yield from _problems(project, written, str(error))


def _bring_to_life(what: Part, surroundings: Surroundings) -> None:
    match what:
        case PythonPolicy():
            load_function(what.python, surroundings)
        case PythonContext():
            build_python(what, lambda reference: load_function(reference, surroundings))
        case (
            CommonContextKeys()
            | RulesPolicy()
            | LaunchAgentTool()
            | WaitForTool()
            | SendMessageTool()
        ):
            return
        case _:
            build_tool(what, surroundings)


def _all(project: Project) -> Iterator[_Written]:
    config, registry = project.config, project.registry
    for key, entries in (("authorization", config.authorization), ("context", config.context)):
        yield from _in_list(entries, _CONFIG, (key,))
    for name, policy in registry.policies.items():
        yield _Written(what=policy, owner=("policy", name), at=())
    for name, context in registry.contexts.items():
        yield _Written(what=context, owner=("context", name), at=())
    for name, tool in registry.tools.items():
        yield _Written(what=tool, owner=("tool", name), at=())
    for name, agent in registry.agents.items():
        yield from _written_in(agent, ("agent", name), ())
    for name, skill in registry.skills.items():
        yield from _in_list(skill.tools, ("skill", name), ("tools",))
    yield from _in_skills(config.skills, _CONFIG, ("skills",))


def _written_in(agent: AgentDefinition, owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    """Yield what is written in an agent, and in the agents written in it."""
    yield from _in_list(agent.tools, owner, (*at, "tools"))
    yield from _in_list(agent.policies, owner, (*at, "policies"))
    yield from _in_list(agent.context or (), owner, (*at, "context"))
    yield from _in_skills(agent.skills, owner, (*at, "skills"))
    yield from _in_skills(agent.available_skills, owner, (*at, "available_skills"))
    for index, inner in enumerate(agent.sub_agents):
        if not isinstance(inner, str):
            yield from _written_in(inner, owner, (*at, "sub_agents", index))


def _in_skills(
    entries: Sequence[SkillEntry], owner: tuple[str, str], at: Path
) -> Iterator[_Written]:
    for index, skill in enumerate(entries):
        if not isinstance(skill, str):
            yield from _in_list(skill.tools, owner, (*at, index, "tools"))


def _in_list(entries: Sequence[str | Part], owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, str):
            yield _Written(what=entry, owner=owner, at=(*at, index))


def _problems(project: Project, written: _Written, message: str) -> Iterator[Problem]:
    document = project.loaded.document
    if written.owner != _CONFIG:
        yield _problem(project, written, message)
    elif document is not None:
        found = document.problem((*written.at, "python"), Code.IMPORT_FAILED, message)
        yield from project.loaded.show([found])


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
