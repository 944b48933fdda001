from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from runner.core.errors import ConfigError, NotFound
from runner.definitions.project import Project
from runner.definitions.snapshot import ResolvedAgent, resolve
from runner.definitions.thinking import BudgetThinking, EffortThinking
from runner.definitions.tool import BuiltinTool
from tests.unit.definitions.projects import load

KEY = {"ANTHROPIC_API_KEY": "sk-hunter2"}


def project(
    root: Path, agent: str, config: str = "", environ: dict[str, str] | None = None
) -> Project:
    files: dict[str, str | bytes] = {
        "config.yaml": config,
        "agents/a.yaml": agent,
        "agents/reader.yaml": "kind: tool\nbuiltin: read_file\n",
    }
    loaded = load(root, files, KEY if environ is None else environ)
    loaded.ensure_sound()
    return loaded


def test_what_an_agent_leaves_out_has_its_default(tmp_path: Path) -> None:
    agent = resolve(project(tmp_path, "description: Helps.\n"), "a")

    assert (agent.name, agent.description, agent.instructions) == ("a", "Helps.", "")
    assert (agent.model.alias, agent.model.client) == ("default", "anthropic")
    assert agent.model.model == "claude-sonnet-5-5"
    assert (agent.model.max_tokens, agent.model.context_tokens) == (16_000, 200_000)
    assert (agent.limits.max_iterations, agent.limits.max_tool_executions) == (25, 100)
    assert agent.limits.timeout == timedelta(hours=1)
    assert agent.limits.max_tool_executions_by_name == {}
    assert (agent.limits.max_depth, agent.limits.max_children, agent.limits.max_fan_out) == (
        3,
        50,
        10,
    )
    assert (agent.tools, agent.sub_agents, agent.launchable) == ((), (), ())
    assert (agent.thinking, agent.prompt_mode) == (None, None)
    assert (agent.system_prompt, agent.input_schema, agent.output_schema) == (None, None, None)


def test_tools_are_put_in_by_name_and_inline(tmp_path: Path) -> None:
    text = (
        "tools: [reader, {name: notes, builtin: read_file, root: .}]\n"
        "limits: {max_tool_executions_by_name: {reader: 2}}\n"
    )

    agent = resolve(project(tmp_path, text), "a")

    assert [tool.name for tool in agent.tools] == ["reader", "notes"]
    notes = agent.tools[1]
    assert isinstance(notes, BuiltinTool)
    assert notes.root == "agents"
    assert agent.limits.max_tool_executions_by_name == {"reader": 2}


def test_each_limit_is_inherited_by_itself(tmp_path: Path) -> None:
    limits = resolve(
        project(
            tmp_path,
            "limits: {max_iterations: 3, max_depth: 1}\n",
            "defaults: {limits: {max_iterations: 9, timeout: 5m, max_depth: 2, max_fan_out: 4},"
            " prompt: {mode: task}}\n",
        ),
        "a",
    ).limits

    assert (limits.max_iterations, limits.timeout) == (3, timedelta(minutes=5))
    assert limits.max_tool_executions == 100
    assert (limits.max_depth, limits.max_children, limits.max_fan_out) == (1, 50, 4)


@pytest.mark.parametrize(
    ("agent", "config", "thinking"),
    [
        ("thinking: 'off'\n", "", "off"),
        ("thinking: {effort: max}\n", "", EffortThinking(effort="max")),
        ("name: a\n", "defaults: {thinking: {budget: 4000}}\n", BudgetThinking(budget=4000)),
        (
            "model: m\n",
            (
                "models: {m: {client: offline, model: x, thinking: adaptive}}\n"
                "defaults: {thinking: 'off'}\n"
            ),
            "adaptive",
        ),
        (
            "model: m\nthinking: 'off'\n",
            "models: {m: {client: offline, model: x, thinking: adaptive}}\n",
            "off",
        ),
    ],
    ids=["the agent", "the agent's effort", "defaults", "the alias before", "the agent before"],
)
def test_thinking_comes_from_the_nearest_place(
    agent: str, config: str, thinking: object, tmp_path: Path
) -> None:
    assert resolve(project(tmp_path, agent, config), "a").thinking == thinking


def test_the_prompt_mode_is_inherited(tmp_path: Path) -> None:
    config = "defaults: {prompt: {mode: task}}\n"

    assert resolve(project(tmp_path, "name: a\n", config), "a").prompt_mode == "task"
    assert resolve(project(tmp_path, "prompt: {mode: none}\n", config), "a").prompt_mode == "none"


def test_a_model_may_be_named_by_its_client(tmp_path: Path) -> None:
    model = resolve(project(tmp_path, "model: anthropic/claude/x\n"), "a").model

    assert (model.alias, model.client, model.model) == (None, "anthropic", "claude/x")


def test_a_client_without_its_key_is_replaced(tmp_path: Path) -> None:
    without = project(tmp_path, "name: a\n", environ={})

    assert resolve(without, "a").model.client == "offline"


def test_a_client_without_a_key_and_a_replacement_stays(tmp_path: Path) -> None:
    config = "clients: {anthropic: {type: anthropic, api_key: ''}}\n"

    assert resolve(project(tmp_path, "name: a\n", config), "a").model.client == "anthropic"


def test_a_loop_of_replacements_ends(tmp_path: Path) -> None:
    config = "clients: {anthropic: {type: anthropic, api_key: '', without_key: anthropic}}\n"
    files: dict[str, str | bytes] = {"config.yaml": config, "agents/a.yaml": "name: a\n"}

    assert resolve(load(tmp_path, files), "a").model.client == "anthropic"


def test_unknown_agents_and_models_are_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "config.yaml": "defaults: {model: nope}\n",
        "agents/a.yaml": "name: a\n",
    }
    broken = load(tmp_path, files)

    with pytest.raises(NotFound, match="no agent named 'b'"):
        resolve(broken, "b")
    with pytest.raises(ConfigError, match="no model 'nope', which agent 'a' uses"):
        resolve(broken, "a")


def test_a_snapshot_is_read_back_as_it_was(tmp_path: Path) -> None:
    agent = resolve(
        project(
            tmp_path,
            "instructions: é ${X}\nthinking: {effort: low}\n"
            "tools: [reader, wait_for, {name: hire, builtin: launch_agent, agents: [a]}]\n"
            "sub_agents: [{name: b, tools: [send_message], sub_agents: [{name: c}]}]\n"
            "input_schema: {type: object, properties: {b: {default: null}, a: {}}}\n",
        ),
        "a",
    )

    again = ResolvedAgent.from_canonical(agent.canonical())

    assert again == agent
    assert again.canonical() == agent.canonical()
    assert again.content_hash() == agent.content_hash()


def test_a_snapshot_from_before_there_were_sub_agents_is_read_with_defaults() -> None:
    text = (
        '{"description":"","input_schema":null,"instructions":"","limits":{"max_iterations":7,'
        '"max_tool_executions":100,"max_tool_executions_by_name":{},"timeout":"1h"},"model":'
        '{"alias":"default","client":"offline","context_tokens":200000,"max_tokens":16000,'
        '"model":"claude-sonnet-5-5"},"name":"a","output_schema":null,"prompt_mode":null,'
        '"system_prompt":null,"thinking":null,"tools":[{"builtin":"read_file","description":null,'
        '"kind":"tool","max_bytes":1000000,"max_result_chars":40000,"name":"reader",'
        '"parameters":null,"read_only":false,"recovery":"unknown","root":null,"terminal":false,'
        '"timeout":"2m","usage_hint":null}]}'
    )

    agent = ResolvedAgent.from_canonical(text)

    assert (agent.name, agent.sub_agents, agent.launchable) == ("a", (), ())
    assert (agent.limits.max_iterations, agent.limits.max_depth) == (7, 3)
    assert (agent.limits.max_children, agent.limits.max_fan_out) == (50, 10)
    assert isinstance(agent.tools[0], BuiltinTool)


def test_the_hash_depends_on_the_meaning_and_not_on_the_writing(tmp_path: Path) -> None:
    first = resolve(project(tmp_path, "limits: {timeout: 60m}\ndescription: x\n"), "a")
    same = resolve(project(tmp_path, "# x\ndescription: 'x'\nname: a\n"), "a")
    other = resolve(project(tmp_path, "description: y\n"), "a")

    assert first.content_hash() == same.content_hash()
    assert first.content_hash() != other.content_hash()
    assert len(first.content_hash()) == 64


def test_a_snapshot_holds_no_secret(tmp_path: Path) -> None:
    assert "hunter2" not in resolve(project(tmp_path, "name: a\n"), "a").canonical()


def test_another_text_is_no_snapshot() -> None:
    with pytest.raises(ValidationError):
        ResolvedAgent.from_canonical('{"name": "a"}')
