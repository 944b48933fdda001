"""The tools that come with the runner."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from runner.core.tooling import Tool
from runner.definitions.tool import BuiltinTool
from runner.tools.surroundings import Surroundings

_BUILTINS: Final[Mapping[str, str]] = {"read_file": "runner.tools.read_file"}


def build(definition: BuiltinTool, surroundings: Surroundings) -> Tool:
    """
    Build the built-in tool that *definition* names.

    Raises:
        ConfigError: What the definition asks of it cannot be had.
    """
    build_it: Callable[[BuiltinTool, Surroundings], Tool]
    build_it = import_module(_BUILTINS[definition.builtin]).build
    return build_it(definition, surroundings)
