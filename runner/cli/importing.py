"""Imports the functions that definitions name, which validation by itself never does."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from runner.context.python import build_python
from runner.core.errors import ConfigError
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.context import CommonContextKeys, ContextDefinition, PythonContext
from runner.definitions.definition_file import read_definitions
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.tool import CoordinationTool, PythonTool, ToolDefinition
from runner.tools.factory import build_tool
from runner.tools.loading import load_function
from runner.tools.surroundings import Surroundings

#: Stands for the config where it holds a definition itself.
_CONFIG: Final = ("config", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A tool or contributor, and where it is written."""

    part: ToolDefinition | ContextDefinition
    #: The kind and name of the definition it is, or is a part of.
    owner: tuple[str, str]
    #: Where it is in that definition.
    at: Path


def import_problems(project: Project) -> Iterator[Problem]:
    """Bring whatever has something to import to life; tell what cannot be, at what it names."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for written in _parts(project):
        try:
            _build(written.part, surroundings)
        except ConfigError as error:
            yield from _problems(project, written, str(error))


def _build(part: ToolDefinition | ContextDefinition, surroundings: Surroundings) -> None:
    if isinstance(part, PythonContext):
        build_python(part, lambda reference: load_function(reference, surroundings))
    elif not isinstance(part, CommonContextKeys | CoordinationTool):
        build_tool(part, surroundings)


def _parts(project: Project) -> Iterator[_Written]:
    for name, tool in project.registry.tools.items():
        yield _Written(part=tool, owner=("tool", name), at=())
    for name, context in project.registry.contexts.items():
        yield _Written(part=context, owner=("context", name), at=())
    for index, entry in enumerate(project.config.context):
        if not isinstance(entry, str):
            yield _Written(part=entry, owner=_CONFIG, at=("context", index))
    for name, agent in project.registry.agents.items():
        yield from _parts_of(agent, ("agent", name), ())


def _parts_of(agent: AgentDefinition, owner: tuple[str, str], at: Path) -> Iterator[_Written]:
    """Yield what is written in an agent, and in the agents written in it."""
    for index, tool in enumerate(agent.tools):
        if not isinstance(tool, str):
            yield _Written(part=tool, owner=owner, at=(*at, "tools", index))
    for index, context in enumerate(agent.context or ()):
        if not isinstance(context, str):
            yield _Written(part=context, owner=owner, at=(*at, "context", index))
    for index, inner in enumerate(agent.sub_agents):
        if not isinstance(inner, str):
            yield from _parts_of(inner, owner, (*at, "sub_agents", index))


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
    key = "python" if isinstance(written.part, PythonTool | PythonContext) else "builtin"
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
