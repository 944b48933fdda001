import re
from pathlib import Path

import pytest

from runner.core.errors import NotFound
from runner.definitions.codes import Code
from runner.definitions.problem import Severity
from runner.definitions.scalars import TOOL_NAME_PATTERN
from runner.definitions.snapshot import resolve
from runner.definitions.tool import LaunchAgentTool, PythonTool, WaitForTool
from tests.unit.definitions.projects import load, only, told

OTHERS: dict[str, str | bytes] = {
    "agents/researcher.yaml": "description: Finds things.\ninput_schema: {type: object}\n",
    "agents/writer.yaml": "description: Writes.\n",
    "agents/reader.yaml": "kind: tool\nbuiltin: read_file\n",
}

INLINE = """\
sub_agents:
  - researcher
  - name: checker
    description: Checks.
    instructions_file: ../prompts/checker.md
    output_schema: _schemas/verdict.json
    tools: [{name: notes, builtin: read_file, root: .}]
    sub_agents: [writer]
    limits: {max_depth: 2}
"""


def test_sub_agents_are_named_or_written_in_the_agent(tmp_path: Path) -> None:
    files = {
        **OTHERS,
        "agents/a.yaml": INLINE,
        "agents/_schemas/verdict.json": '{"type": "object"}',
        "prompts/checker.md": "Check it.\n",
    }

    project = load(tmp_path, files)

    assert project.problems == ()
    assert {path.name for path in project.files} == {"verdict.json", "checker.md"}
    researcher, checker = resolve(project, "a").sub_agents
    assert (researcher.name, researcher.description) == ("researcher", "Finds things.")
    assert (researcher.input_schema, researcher.definition) == ({"type": "object"}, None)
    assert (checker.name, checker.description, checker.input_schema) == ("checker", "Checks.", None)
    inner = checker.definition
    assert inner is not None
    assert inner.instructions.strip() == "Check it."
    assert inner.output_schema == {"type": "object"}
    assert [tool.name for tool in inner.tools] == ["notes"]
    assert [sub.name for sub in inner.sub_agents] == ["writer"]
    assert (inner.limits.max_depth, inner.limits.max_children) == (2, 50)


def test_an_agent_that_says_nothing_of_it_has_no_sub_agents(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": "name: a\n", "agents/b.yaml": "sub_agents: []\n"})

    assert project.problems == ()
    assert (resolve(project, "a").sub_agents, resolve(project, "b").sub_agents) == ((), ())


@pytest.mark.parametrize("name", ["0", "a-b_c", "z" * 64])
def test_a_name_of_an_agent_is_a_name_for_a_tool(name: str, tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": f"sub_agents: [{{name: '{name}'}}]\n"})

    assert project.problems == ()
    (sub_agent,) = resolve(project, "a").sub_agents
    assert re.fullmatch(TOOL_NAME_PATTERN, sub_agent.name)


WRONG = [
    pytest.param("sub_agents: [reseacher]\n", "1:14 unknown-agent", id="a misspelt agent"),
    pytest.param("sub_agents: [nobody]\n", "1:14 unknown-agent", id="nobody"),
    pytest.param("sub_agents: [reader]\n", "1:14 unknown-agent", id="a tool"),
    pytest.param("tools: [writer]\n", "1:9 unknown-tool", id="an agent among the tools"),
    pytest.param("tools: [launch_agnt]\n", "1:9 unknown-tool", id="a misspelt builtin"),
    pytest.param("sub_agents: writer\n", "1:13 wrong-type", id="a text for a list"),
    pytest.param("sub_agents: [3]\n", "1:14 wrong-type", id="a number for an agent"),
    pytest.param("sub_agents: [A b]\n", "1:14 bad-name", id="no name"),
    pytest.param("sub_agents:\n", "1:1 null-value", id="nothing"),
    pytest.param("sub_agents: [writer, writer]\n", "1:22 duplicate-tool", id="twice"),
    pytest.param(
        "sub_agents: [writer, {name: writer}]\n", "1:22 duplicate-tool", id="twice, inline"
    ),
    pytest.param(
        "tools: [{name: writer, builtin: wait_for}]\nsub_agents: [writer]\n",
        "2:14 duplicate-tool",
        id="named like a tool",
    ),
    pytest.param("sub_agents: [{description: x}]\n", "1:14 missing-key", id="without a name"),
    pytest.param("sub_agents: [{name: b, tool: []}]\n", "1:24 unknown-key", id="unknown key"),
    pytest.param("sub_agents: [{name: b, kind: tool}]\n", "1:30 bad-value", id="another kind"),
    pytest.param(
        "sub_agents: [{name: writer}]\n", "1:21 duplicate-definition", id="a name that is taken"
    ),
    pytest.param("sub_agents: [{name: b, model: no}]\n", "1:31 unknown-model", id="no model"),
    pytest.param("sub_agents: [{name: b, tools: [no]}]\n", "1:32 unknown-tool", id="no tool"),
    pytest.param(
        "sub_agents: [{name: b, tools: [{name: c, builtin: read_file, root: no}]}]\n",
        "1:68 missing-file",
        id="no folder",
    ),
    pytest.param(
        "sub_agents: [{name: b, sub_agents: [no]}]\n", "1:37 unknown-agent", id="no agent below"
    ),
    pytest.param(
        "sub_agents: [{name: b, input_schema: {type: no}}]\n", "1:45 bad-schema", id="no schema"
    ),
    pytest.param(
        "sub_agents: [{name: b, input_schema: no.json}]\n", "1:38 missing-file", id="no schema file"
    ),
    pytest.param(
        "sub_agents: [{name: b, instructions_file: no.md}]\n", "1:43 missing-file", id="no text"
    ),
    pytest.param(
        "sub_agents: [{name: b, instructions: x, instructions_file: x}]\n",
        "1:41 key-conflict",
        id="two texts",
    ),
    pytest.param(
        "sub_agents: [{name: b, limits: {max_tool_executions_by_name: {c: 1}}}]\n",
        "1:63 unknown-tool",
        id="a limit for no tool",
    ),
    pytest.param(
        "sub_agents: [{name: b, input_schema: {properties: {c: {$id: x}}}}]\n",
        "1:14 bad-schema",
        id="a schema that cannot be part of another",
    ),
    pytest.param(
        "tools: [{name: b, builtin: launch_agent, agents: [writr]}]\n",
        "1:51 unknown-agent",
        id="nobody to launch",
    ),
    pytest.param(
        "tools: [{name: b, builtin: wait_for, agents: [writer]}]\n",
        "1:38 unknown-key",
        id="a key of another builtin",
    ),
    pytest.param(
        "tools: [{name: b, builtin: send_message, timeout: 3s}]\n",
        "1:42 unknown-key",
        id="a key of other tools",
    ),
    pytest.param(
        "tools: [{name: b, builtin: lunch_agent}]\n", "1:28 bad-value", id="a misspelt builtin tool"
    ),
    pytest.param("tools: [{name: b, builtin: x}]\n", "1:28 bad-value", id="no builtin tool"),
    pytest.param("limits: {max_depth: 0}\n", "1:21 bad-value", id="no depth"),
    pytest.param("limits: {max_children: many}\n", "1:24 wrong-type", id="many children"),
    pytest.param("limits: {max_fan_out: 1.5}\n", "1:23 wrong-type", id="half a child"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_a_mistake_is_one_problem_at_its_place(text: str, problem: str, tmp_path: Path) -> None:
    project = load(tmp_path, {**OTHERS, "agents/a.yaml": text})

    assert told(project.problems) == [f"agents/a.yaml:{problem}"]
    assert only(project.problems).is_error
    assert "a" not in project.registry.agents


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sub_agents: [reseacher]\n", "did you mean 'researcher'?"),
        ("sub_agents: [reader]\n", "it is a tool: name it under tools"),
        ("sub_agents: [nobody]\n", "define it in a file without kind"),
        ("tools: [writer]\n", "it is an agent: name it under sub_agents"),
        ("tools: [wait_fr]\n", "did you mean 'wait_for'?"),
        ("tools: [{name: b, builtin: wait_fr}]\n", "did you mean 'wait_for'?"),
    ],
)
def test_a_hint_says_what_was_meant(text: str, hint: str, tmp_path: Path) -> None:
    assert only(load(tmp_path, {**OTHERS, "agents/a.yaml": text}).problems).hint == hint


def test_a_schema_that_is_no_part_of_another_is_told_where_the_child_is_named(
    tmp_path: Path,
) -> None:
    child = "input_schema: {properties: {b: {$id: 'b', $ref: '#/properties/b'}}}\n"

    project = load(tmp_path, {"agents/a.yaml": "sub_agents: [c]\n", "agents/c.yaml": child})

    assert told(project.problems) == ["agents/a.yaml:1:14 bad-schema"]
    assert "input_schema of 'c'" in only(project.problems).message


def test_a_broken_sub_agent_is_told_once_and_where_it_is(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "agents/a.yaml": "sub_agents: [b, c]\n",
        "agents/b.yaml": "description: 3\n",
        "agents/c.yaml": "a: [\n",
    }

    project = load(tmp_path, files)

    assert [problem.path for problem in project.problems] == ["agents/b.yaml", "agents/c.yaml"]
    with pytest.raises(NotFound, match="no agent named 'b'"):
        resolve(project, "a")


def test_an_agent_may_limit_its_sub_agents_like_tools(tmp_path: Path) -> None:
    text = "sub_agents: [writer]\nlimits: {max_tool_executions_by_name: {writer: 2}}\n"

    project = load(tmp_path, {**OTHERS, "agents/a.yaml": text})

    assert project.problems == ()
    assert resolve(project, "a").limits.max_tool_executions_by_name == {"writer": 2}


def test_the_name_of_a_coordination_tool_stands_for_it(tmp_path: Path) -> None:
    text = "tools: [launch_agent, wait_for, send_message]\nsub_agents: [writer]\n"

    project = load(tmp_path, {**OTHERS, "agents/a.yaml": text})

    assert project.problems == ()
    tools = resolve(project, "a").tools
    assert [tool.name for tool in tools] == ["launch_agent", "wait_for", "send_message"]
    assert isinstance(tools[0], LaunchAgentTool)


def test_a_tool_that_is_declared_goes_before_the_builtin_of_its_name(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config.yaml": "python_modules: [tools]\n",
        "agents/wait_for.yaml": "kind: tool\npython: tools:wait\n",
        "agents/a.yaml": "tools: [wait_for]\n",
        "agents/b.yaml": "tools: [{name: join, builtin: wait_for, max_result_chars: 9}]\n",
    }

    project = load(tmp_path, files)

    assert project.problems == ()
    assert isinstance(resolve(project, "a").tools[0], PythonTool)
    (join,) = resolve(project, "b").tools
    assert isinstance(join, WaitForTool)
    assert (join.name, join.max_result_chars) == ("join", 9)


def test_a_tool_may_launch_agents_that_are_no_sub_agents(tmp_path: Path) -> None:
    text = (
        "tools: [{name: hire, builtin: launch_agent, agents: [researcher, writer, researcher]}]\n"
        "sub_agents: [writer]\n"
    )

    agent = resolve(load(tmp_path, {**OTHERS, "agents/a.yaml": text}), "a")

    assert [sub.name for sub in agent.sub_agents] == ["writer"]
    (other,) = agent.launchable
    assert (other.name, other.description) == ("researcher", "Finds things.")


@pytest.mark.parametrize(
    "tools", ["[launch_agent]", "[hire]", "[{name: c, builtin: launch_agent}]"]
)
def test_an_agent_with_nobody_to_launch_is_warned_and_goes_without(
    tools: str, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {
        "agents/hire.yaml": "kind: tool\nbuiltin: launch_agent\n",
        "agents/a.yaml": f"tools: {tools}\n",
    }

    project = load(tmp_path, files)

    problem = only(project.problems)
    assert (problem.code, problem.severity) == (Code.NOTHING_TO_LAUNCH, Severity.WARNING)
    assert (problem.path, problem.line, problem.column) == ("agents/a.yaml", 1, 9)
    assert project.is_sound
    assert resolve(project, "a").tools == ()


def test_a_mistake_in_the_sub_agents_is_not_taken_for_having_none(tmp_path: Path) -> None:
    text = "tools: [launch_agent]\nsub_agents: [3]\n"

    assert told(load(tmp_path, {"agents/a.yaml": text}).problems) == [
        "agents/a.yaml:2:14 wrong-type"
    ]
