from pathlib import Path

import pytest

from runner.core.errors import UsageError
from runner.definitions.config import Config
from runner.definitions.config_loader import load_config
from runner.definitions.scaffold import (
    new_agent,
    new_context,
    new_policy,
    new_skill,
    new_tool,
    write_new,
)
from tests.unit.definitions.projects import load


def test_a_new_agent_is_valid_as_it_stands(tmp_path: Path) -> None:
    config = load_config(None, environ={}, cwd=tmp_path).config

    write_new(new_agent("my-helper", root=tmp_path, config=config))

    path = tmp_path / "agents" / "my-helper.yaml"
    first = path.read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schemas/agent.schema.json"
    project = load(tmp_path, {})
    assert project.problems == ()
    assert list(project.registry.agents) == ["my-helper"]


def test_a_new_policy_is_valid_as_it_stands(tmp_path: Path) -> None:
    write_new(new_policy("careful", root=tmp_path, config=Config()))

    project = load(tmp_path, {})
    assert project.problems == ()
    assert list(project.registry.policies) == ["careful"]


def test_a_new_tool_reads_files_where_no_python_is_listed(tmp_path: Path) -> None:
    write_new(new_tool("notes", root=tmp_path, config=Config()))

    project = load(tmp_path, {})
    assert project.problems == ()
    assert project.registry.tool("notes").kind == "tool"


@pytest.mark.parametrize(
    ("name", "module"),
    [("save-note", "save_note"), ("3d", "tool_3d"), ("import", "import_tool")],
)
def test_a_new_tool_comes_with_its_function(name: str, module: str, tmp_path: Path) -> None:
    config = Config(python_modules=("pkg", "agents/python"))

    write_new(new_tool(name, root=tmp_path, config=config))

    source = (tmp_path / "agents" / "python" / f"{module}.py").read_text()
    namespace: dict[str, object] = {}
    exec(compile(source, module, "exec"), namespace)  # noqa: S102  # what was just made
    assert callable(namespace[module])
    project = load(tmp_path, {"config.yaml": "python_modules: [agents/python]\n"})
    assert project.problems == ()
    assert list(project.registry.tools) == [name]


def test_a_new_skill_is_valid_as_it_stands(tmp_path: Path) -> None:
    write_new(new_skill("house-style", root=tmp_path, config=Config()))

    assert (tmp_path / "agents/skills/house-style/SKILL.md").is_file()
    project = load(tmp_path, {})
    assert project.problems == ()
    assert "# House style" in (project.registry.skill("house-style").content or "")


@pytest.mark.parametrize("name", ["house_style", "-a", "a-", "a--b", "A", "", "x" * 65])
def test_a_bad_name_of_a_skill_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a"):
        new_skill(name, root=tmp_path, config=Config())


@pytest.mark.parametrize("name", ["", "A", "-a", "a b", "../a", "a\n", "x" * 65])
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a name"):
        new_agent(name, root=tmp_path, config=Config())
    with pytest.raises(UsageError, match="is not a name"):
        new_tool(name, root=tmp_path, config=Config())


def test_nothing_is_written_over(tmp_path: Path) -> None:
    kept = tmp_path / "kept.yaml"
    kept.write_text("mine")

    with pytest.raises(UsageError, match="exists already"):
        write_new({tmp_path / "new.yaml": "x", kept: "theirs"})

    assert kept.read_text() == "mine"
    assert not (tmp_path / "new.yaml").exists()


def test_a_new_contributor_is_a_text_where_no_python_is_listed(tmp_path: Path) -> None:
    write_new(new_context("house", root=tmp_path, config=Config()))

    project = load(tmp_path, {})
    assert project.problems == ()
    assert project.registry.context("house").kind == "context"


@pytest.mark.parametrize(
    ("name", "module"), [("on-duty", "on_duty"), ("3d", "context_3d"), ("import", "import_context")]
)
def test_a_new_contributor_comes_with_its_function(name: str, module: str, tmp_path: Path) -> None:
    config = Config(python_modules=("agents/python",))

    write_new(new_context(name, root=tmp_path, config=config))

    source = (tmp_path / "agents" / "python" / f"{module}.py").read_text()
    namespace: dict[str, object] = {}
    exec(compile(source, module, "exec"), namespace)  # noqa: S102  # what was just made
    assert callable(namespace[module])
    project = load(tmp_path, {"config.yaml": "python_modules: [agents/python]\n"})
    assert project.problems == ()
    assert list(project.registry.contexts) == [name]
