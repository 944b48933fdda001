from pathlib import Path

import pytest

from runner.core.errors import NotFound
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.config_loader import load_config
from runner.definitions.project import fingerprint, load_project
from runner.definitions.tool import BuiltinTool, PythonTool
from tests.unit.definitions.projects import load, told, write
from tests.unit.definitions.texts import AGENT, PYTHON

TOOL = "kind: tool\nname: reader\nbuiltin: read_file\n"


def test_agents_and_tools_are_found_by_kind_and_name(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/helper.yaml": "instructions: Help.\ntools: [reader, refund]\n",
            "agents/deep/er/tools.yml": f"{TOOL}---\nkind: tool\nname: refund\n"
            "python: shop:refund\n",
            **PYTHON,
        },
    )

    assert project.problems == ()
    assert project.is_sound
    project.ensure_sound()
    registry = project.registry
    assert isinstance(registry.get("agent", "helper"), AgentDefinition)
    assert isinstance(registry.get("tool", "reader"), BuiltinTool)
    assert isinstance(registry.tool("refund"), PythonTool)
    assert str(registry.origins["tool", "refund"]) == "agents/deep/er/tools.yml:6:7"


def test_a_missing_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    registry = load(tmp_path, {"agents/helper.yaml": AGENT}).registry

    with pytest.raises(NotFound, match="no agent named 'helpr'; did you mean 'helper'"):
        registry.agent("helpr")
    with pytest.raises(NotFound, match=r"no tool named 'x'$"):
        registry.get("tool", "x")


def test_a_project_without_agents_is_empty(tmp_path: Path) -> None:
    project = load(tmp_path, {})

    assert (project.problems, dict(project.registry.agents)) == ((), {})


def test_hidden_names_and_other_files_are_not_read(tmp_path: Path) -> None:
    broken = "a: [\n"

    project = load(
        tmp_path,
        {
            "agents/_drafts/a.yaml": broken,
            "agents/.git/a.yaml": broken,
            "agents/_a.yaml": broken,
            "agents/.a.yaml": broken,
            "agents/notes.md": broken,
            "agents/data.json": broken,
        },
    )

    assert project.problems == ()


def test_an_agent_and_a_tool_may_share_a_name(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": f"{AGENT}---\n{TOOL.replace('reader', 'helper')}"})

    assert project.problems == ()


def test_nothing_is_not_none_and_left_out_inherits(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/none.yaml": "tools: []\n",
            "agents/nothing.yaml": "tools:\n",
            "agents/null.yaml": "tools: [null]\n",
            "agents/out.yaml": "description: x\n",
        },
    )

    assert told(project.problems) == [
        "agents/nothing.yaml:1:1 null-value",
        "agents/null.yaml:1:9 null-value",
    ]
    assert list(project.registry.agents) == ["none", "out"]


def test_variables_are_put_into_values_and_not_into_prose(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/a.yaml": "description: about ${X}\n"
            "instructions: use ${X} and $${X}\n"
            "system_prompt: ${\n"
            "model: ${MODEL}\n"
            "input_schema: {properties: {a: {pattern: '^${X}', default: null}}}\n"
            "tools: [{name: '${TOOL}', builtin: read_file, description: '${X}', usage_hint: '${',"
            " terminal: '${path} saved'}]\n"
        },
        {"MODEL": "fast", "TOOL": "reader", "X": "no"},
    )

    assert project.problems == ()
    agent = project.registry.agent("a")
    assert (agent.description, agent.instructions) == ("about ${X}", "use ${X} and $${X}")
    assert agent.model == "fast"
    assert agent.input_schema == {"properties": {"a": {"pattern": "^${X}", "default": None}}}
    (tool,) = agent.tools
    assert isinstance(tool, BuiltinTool)
    assert (tool.name, tool.description, tool.terminal) == ("reader", "${X}", "${path} saved")


def test_keys_that_start_with_x_are_a_home_for_anchors(tmp_path: Path) -> None:
    text = "x-limits: &limits {max_iterations: 3}\nx-none:\nlimits: *limits\n"

    agent = load(tmp_path, {"agents/a.yaml": text}).registry.agent("a")

    assert agent.limits is not None
    assert agent.limits.max_iterations == 3


def test_files_are_put_in(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/team/a.yaml": "instructions_file: ../../prompts/a.md\n"
            "input_schema: _schemas/in.json\noutput_schema: _schemas/out.yaml\n"
            "tools: [{name: b, builtin: read_file, root: data}]\n",
            "agents/team/_schemas/in.json": '{\n\t"type": "object"\n}',
            "agents/team/_schemas/out.yaml": "type: string\n",
            "agents/team/data/x.txt": "",
            "prompts/a.md": "Help, ${NAME}.",
        },
    )

    assert project.problems == ()
    agent = project.registry.agent("a")
    assert (agent.instructions, agent.instructions_file) == ("Help, ${NAME}.", None)
    assert (agent.input_schema, agent.output_schema) == ({"type": "object"}, {"type": "string"})
    (tool,) = agent.tools
    assert isinstance(tool, BuiltinTool)
    assert tool.root == "agents/team/data"


def test_no_code_is_imported(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            **PYTHON,
            "agents/python/shop.py": "import pathlib\n"
            "pathlib.Path(__file__).with_suffix('.ran').touch()\n",
            "agents/a.yaml": "tools: [{name: b, python: 'shop:refund'}]\n",
        },
    )

    assert project.problems == ()
    assert not (tmp_path / "agents/python/shop.ran").exists()


def test_an_alias_bomb_in_one_file_leaves_the_others_whole(tmp_path: Path) -> None:
    lines = ["x-a: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"x-{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]

    project = load(tmp_path, {"agents/a.yaml": "\n".join(lines), "agents/b.yaml": AGENT})

    assert [problem.code for problem in project.problems] == [Code.TOO_MANY_VALUES]
    assert list(project.registry.agents) == ["helper"]


def test_a_thousand_mistakes_are_cut_off(tmp_path: Path) -> None:
    text = "".join(f"wrong_{number}: 1\n" for number in range(1000))

    problems = load(tmp_path, {"agents/a.yaml": text}).problems

    assert len(problems) == 101
    assert problems[-1].code is Code.TOO_MANY_PROBLEMS


@pytest.mark.timeout(60)  # many times what it takes; what grows with the square takes far longer
def test_a_thousand_agents_are_read_in_one_go(tmp_path: Path) -> None:
    instructions = "".join(f"  Line {number} says what to do.\n" for number in range(30))
    text = (
        f"model: default\ntools: [reader]\nlimits: {{timeout: 5m}}\ninstructions: |\n{instructions}"
    )
    agents: dict[str, str | bytes] = {f"agents/a{number}.yaml": text for number in range(1000)}

    project = load(tmp_path, {**agents, "agents/reader.yaml": TOOL, "agents/a7.yaml": "nme: x\n"})

    assert told(project.problems) == ["agents/a7.yaml:1:1 unknown-key"]
    assert len(project.registry.agents) == 999


def test_every_variable_is_listed_with_its_file(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": "model: ${M:-fast}\n"}, {"ANTHROPIC_API_KEY": "x"})

    assert [(use.path, use.variable.name, use.variable.is_set) for use in project.uses] == [
        ("embedded default", "ANTHROPIC_API_KEY", True),
        ("agents/a.yaml", "M", False),
    ]


def test_a_change_of_any_file_is_noticed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config.yaml": "worker: {threads: 2}\n",
        "agents/a.yaml": "instructions_file: ../a.md\ninput_schema: _s.json\n",
        "agents/_s.json": "{}",
        "a.md": "one",
    }
    changes = {
        "agents/b.yaml": AGENT,
        "agents/a.yaml": "instructions_file: ../a.md\ninput_schema: _s.json\nmodel: fast\n",
        "a.md": "three",
        "agents/_s.json": '{"type": "object"}',
        "config.yaml": "worker: {threads: 12}\n",
    }
    for name, text in changes.items():
        project = load(tmp_path, files)
        assert not project.has_changed()

        write(tmp_path, {name: text})

        assert project.has_changed()


def test_removing_a_file_is_noticed(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": "instructions_file: ../a.md\n", "a.md": "one"})

    (tmp_path / "a.md").unlink()

    assert project.has_changed()


def test_the_fingerprint_needs_no_reading(tmp_path: Path) -> None:
    write(tmp_path, {"agents/a.yaml": "a: [\n"})
    loaded = load_config(None, environ={}, cwd=tmp_path)

    project = load_project(loaded, environ={})

    assert fingerprint(tmp_path, loaded.config) == project.fingerprint


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"agents": "no folder\n", "config.yaml": "agents_dir: agents\n"})

    assert told(load(tmp_path, {}).problems) == ["config.yaml:1:13 missing-file"]
