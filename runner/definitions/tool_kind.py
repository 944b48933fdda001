"""What makes a tool's definition whole and right, beyond its form."""

from collections.abc import Iterator
from typing import assert_never

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem
from runner.definitions.python_references import find_module, parse_reference
from runner.definitions.schema_files import check_inline
from runner.definitions.skill import RESERVED_TOOLS
from runner.definitions.sub_agents import check_name
from runner.definitions.surroundings import Surroundings
from runner.definitions.template import keys
from runner.definitions.tool import (
    BuiltinTool,
    CommonToolKeys,
    LaunchAgentTool,
    PythonTool,
    SendMessageTool,
    ToolDefinition,
    WaitForTool,
)


def complete(
    tool: ToolDefinition, document: Document, at: Path = ()
) -> tuple[ToolDefinition, list[Problem]]:
    """Make a tool independent of the file it stands in."""
    match tool:
        case BuiltinTool(root=str(folder)):
            try:
                root = document.base.folder_at(folder)
            except PathRefused as refused:
                return tool, [
                    document.problem((*at, "root"), Code.named(refused.code), str(refused))
                ]
            return tool.model_copy(update={"root": root}), []
        case BuiltinTool() | PythonTool() | LaunchAgentTool() | WaitForTool() | SendMessageTool():
            return tool, []
        case _:
            assert_never(tool)


def check(
    tool: ToolDefinition, document: Document, surroundings: Surroundings, at: Path = ()
) -> Iterator[Problem]:
    """Tell what in a tool refers to what is not there."""
    if tool.name in RESERVED_TOOLS:
        place = (*at, "name") if document.has((*at, "name")) else at
        message = f"{tool.name!r} is the name of a tool that agents have by themselves"
        yield document.problem(place, Code.RESERVED_NAME, message)
    match tool:
        case PythonTool():
            yield from _check_common(tool, document, at)
            yield from _check_python(tool, document, surroundings, at)
        case BuiltinTool():
            yield from _check_common(tool, document, at)
            if tool.parameters is not None:
                message = "a builtin tool has its own parameters"
                yield document.problem((*at, "parameters"), Code.KEY_CONFLICT, message, at_key=True)
        case LaunchAgentTool(agents=agents):
            for index, name in enumerate(agents):
                yield from check_name(name, document, surroundings, (*at, "agents", index))
        case WaitForTool() | SendMessageTool():
            return
        case _:
            assert_never(tool)


def _check_common(tool: CommonToolKeys, document: Document, at: Path) -> Iterator[Problem]:
    if tool.parameters is not None:
        yield from check_inline(document, (*at, "parameters"), tool.parameters)
    if isinstance(tool.terminal, str):
        try:
            keys(tool.terminal)
        except ValueError as error:
            yield document.problem((*at, "terminal"), Code.BAD_TEMPLATE, str(error))


def _check_python(
    tool: PythonTool, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if "python_modules" in surroundings.unsure:
        return
    module = parse_reference(tool.python).module
    if find_module(module, surroundings.config.python_modules, surroundings.root) is None:
        yield document.problem(
            (*at, "python"),
            Code.MODULE_NOT_ALLOWED,
            f"the config does not list the module {module!r}",
            hint="list it, or the project folder it is in, under python_modules",
        )
