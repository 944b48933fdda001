"""Imports the functions that tools name, which validation by itself never does."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from runner.core.errors import ConfigError
from runner.definitions.codes import Code
from runner.definitions.definition_file import read_definitions
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.project import Project
<<<<<<< HEAD
from runner.definitions.tool import CoordinationTool, ToolDefinition
=======
from runner.definitions.tool import PythonTool, ToolDefinition
>>>>>>> main
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
<<<<<<< HEAD
    """Bring every tool with something to import to life, and tell which cannot be, at its place."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for owner, tool in _tools(project):
        if isinstance(tool, CoordinationTool):
            continue
=======
    """Bring every tool to life and tell which cannot be, at the function it names."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for written in _tools(project):
>>>>>>> main
        try:
            build_tool(written.tool, surroundings)
        except ConfigError as error:
            yield _problem(project, written, str(error))


def _tools(project: Project) -> Iterator[_Written]:
    for name, tool in project.registry.tools.items():
        yield _Written(tool=tool, owner=("tool", name), at=())
    for name, agent in project.registry.agents.items():
        for index, entry in enumerate(agent.tools):
            if not isinstance(entry, str):
                yield _Written(tool=entry, owner=("agent", name), at=("tools", index))


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
