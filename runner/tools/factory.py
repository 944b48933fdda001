"""Tools from their definitions."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from runner.core.tooling import Tool
from runner.definitions.tool import BuiltinTool, PythonTool, ToolDefinition
from runner.tools.surroundings import Surroundings

#: Where each kind of tool is built; the module is imported when the first of its kind is.
_KINDS: Final[Mapping[type[ToolDefinition], str]] = {
    PythonTool: "runner.tools.python",
    BuiltinTool: "runner.tools.builtin",
}


def build_tool(definition: ToolDefinition, surroundings: Surroundings) -> Tool:
    """
    Bring a definition to life.

    Raises:
        ConfigError: It cannot be; the message names the definition and what it refers to.
    """
    build: Callable[[ToolDefinition, Surroundings], Tool]
    build = import_module(_KINDS[type(definition)]).build
    return build(definition, surroundings)
