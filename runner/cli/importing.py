"""Imports the functions that tools name, which validation by itself never does."""

from collections.abc import Iterator

from runner.core.errors import ConfigError
from runner.definitions.codes import Code
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.tool import CoordinationTool, ToolDefinition
from runner.tools.factory import build_tool
from runner.tools.surroundings import Surroundings


def import_problems(project: Project) -> Iterator[Problem]:
    """Bring every tool with something to import to life, and tell which cannot be, at its place."""
    surroundings = Surroundings(
        root=project.root, python_modules=tuple(project.config.python_modules)
    )
    for owner, tool in _tools(project):
        if isinstance(tool, CoordinationTool):
            continue
        try:
            build_tool(tool, surroundings)
        except ConfigError as error:
            place = project.registry.origins[owner]
            yield Problem(
                path=place.path,
                line=place.line,
                column=place.column,
                code=Code.IMPORT_FAILED,
                message=str(error),
            )


def _tools(project: Project) -> Iterator[tuple[tuple[str, str], ToolDefinition]]:
    """Yield every tool with the kind and name of the definition it is written in."""
    for name, tool in project.registry.tools.items():
        yield ("tool", name), tool
    for name, agent in project.registry.agents.items():
        for entry in agent.tools:
            if not isinstance(entry, str):
                yield ("agent", name), entry
