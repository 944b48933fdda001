from pathlib import Path

import pytest

from runner.core.errors import ConfigError
from runner.definitions.tool import BuiltinTool, PythonTool
from runner.tools.factory import build_tool
from runner.tools.python import FunctionTool
from runner.tools.read_file import ReadFile
from runner.tools.surroundings import Surroundings


def test_a_python_tool_is_built(tmp_path: Path) -> None:
    definition = PythonTool(
        name="nest",
        description="Nest.",
        python="tests.unit.tools.values:nested",
    )

    tool = build_tool(
        definition, Surroundings(root=tmp_path, python_modules=("tests.unit.tools.values",))
    )

    assert isinstance(tool, FunctionTool)
    assert tool.spec.name == "nest"


def test_a_builtin_tool_is_built(tmp_path: Path) -> None:
    tool = build_tool(BuiltinTool(name="read", builtin="read_file"), Surroundings(root=tmp_path))

    assert isinstance(tool, ReadFile)


def test_no_function_may_be_named_unless_the_operator_lists_its_module(tmp_path: Path) -> None:
    definition = PythonTool(name="shell", python="os:system")

    with pytest.raises(ConfigError, match="tool 'shell' cannot use 'os:system': the config"):
        build_tool(definition, Surroundings(root=tmp_path))
