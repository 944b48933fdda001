"""What the pages list is what there is, and nothing else."""

import json
import re
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from runner import ContributorContext, Given, ToolContext
from runner.clients.script import (
    ScriptedAnswer,
    ScriptedCall,
    ScriptedError,
    ScriptedUsage,
    ScriptEntry,
)
from runner.core.authorization import Action
from runner.core.jsonvalue import JsonObject
from runner.core.states import ExecutionStatus
from runner.definitions.agent import AgentDefinition, Limits, PromptSection, PromptSettings
from runner.definitions.codes import Code
from runner.definitions.condition import DECLARED
from runner.definitions.config import (
    AgentDefaults,
    AnthropicClient,
    ApprovalsConfig,
    BrokerConfig,
    Config,
    DatabaseConfig,
    ModelConfig,
    NamedDatabase,
    OutboundConfig,
    ScriptedClient,
    WorkerConfig,
)
from runner.definitions.config_loader import load_config
from runner.definitions.context import (
    CommandContext,
    CommonContextKeys,
    FileContext,
    HttpCall,
    PythonContext,
    SqlContext,
    TextContext,
)
from runner.definitions.coordination import coordination_spec
from runner.definitions.policy import PolicyRule, PythonPolicy, RulesPolicy
from runner.definitions.price import Price
from runner.definitions.project import load_project
from runner.definitions.report import as_text
from runner.definitions.scalars import parse_duration
from runner.definitions.secret import Secret
from runner.definitions.skill import RESERVED_TOOLS, SkillDefinition
from runner.definitions.skill_header import KEYS
from runner.definitions.snapshot import ResolvedLimits, resolve
from runner.definitions.tool import (
    COORDINATION_TOOLS,
    BuiltinTool,
    CommonToolKeys,
    LaunchAgentTool,
    NamedTool,
    PythonTool,
    WaitForTool,
)
from tests.markdown import Table, page
from tests.unit.pages import DURABILITY, ENVIRON, PYTHON, project_of, table


def own(model: type[BaseModel], base: type[BaseModel] | None = None) -> set[str]:
    return set(model.model_fields) - set(base.model_fields if base else ())


def dotted(prefix: str, *models: type[BaseModel]) -> set[str]:
    return {f"{prefix}.{name}" for model in models for name in model.model_fields}


CONTEXT = {field.name for field in fields(ToolContext) if not field.name.startswith("_")}
CONTRIBUTING = {field.name for field in fields(ContributorContext)} - {"conversation_id"}

PARTS = {
    "database",
    "databases",
    "outbound",
    "broker",
    "worker",
    "approvals",
    "clients",
    "models",
    "defaults",
}

SKILLS = "docs/skills.md"
LIVE = "docs/context.md"
AGENTS, CONFIG, SCRIPTS = "docs/agents.md", "docs/config.md", "docs/scripts.md"
POLICIES = "docs/policies.md"


@pytest.mark.parametrize(
    ("listed", "there_is"),
    [
        (table(AGENTS, "Keys of an agent"), own(AgentDefinition)),
        (table(AGENTS, "Limits"), dotted("limits", Limits)),
        (table(AGENTS, "Prompts"), set(get_args(PromptSection))),
        (table(AGENTS, "Prompts", 1), dotted("prompt", PromptSettings)),
        (table(SKILLS, "As a folder"), set(KEYS)),
        (table(SKILLS, "In YAML"), own(SkillDefinition)),
        (table(SKILLS, "What an agent does with skills"), RESERVED_TOOLS),
        (table(AGENTS, "Starting, waiting, writing"), set(COORDINATION_TOOLS)),
        (
            table(AGENTS, "Starting, waiting, writing", 1),
            own(LaunchAgentTool, NamedTool) | own(WaitForTool, NamedTool),
        ),
        (table(AGENTS, "Keys of every tool"), own(CommonToolKeys)),
        (table(AGENTS, "Python functions"), own(PythonTool, CommonToolKeys)),
        (table(AGENTS, "Python functions", 1), CONTEXT | {"append_message(text)"}),
        (table(AGENTS, "`read_file`"), own(BuiltinTool, CommonToolKeys)),
        (table(POLICIES, "Keys of a policy"), own(RulesPolicy) | own(PythonPolicy)),
        (table(POLICIES, "Keys of a rule"), own(PolicyRule)),
        (table(POLICIES, "Actions"), set(Action)),
        (table(POLICIES, "Conditions"), set(DECLARED)),
        (table(CONFIG, "The config"), own(Config) - PARTS),
        (table(CONFIG, "Database"), dotted("database", DatabaseConfig)),
        (table(CONFIG, "Databases"), dotted("databases.<name>", NamedDatabase)),
        (table(CONFIG, "Outbound"), dotted("outbound", OutboundConfig)),
        (table(CONFIG, "Broker"), dotted("broker", BrokerConfig)),
        (table(CONFIG, "Worker"), dotted("worker", WorkerConfig)),
        (table(CONFIG, "Approvals"), dotted("approvals", ApprovalsConfig)),
        (table(CONFIG, "Clients"), own(AnthropicClient)),
        (table(CONFIG, "Clients", 1), own(ScriptedClient)),
        (table(CONFIG, "Models"), dotted("models.<alias>", ModelConfig)),
        (table(CONFIG, "Prices"), dotted("price", Price)),
        (table(CONFIG, "Defaults"), dotted("defaults", AgentDefaults)),
        (table(LIVE, "Contributors"), own(CommonContextKeys)),
        (table(LIVE, "Texts"), own(TextContext, CommonContextKeys)),
        (table(LIVE, "Files"), own(FileContext, CommonContextKeys)),
        (table(LIVE, "Python functions"), own(PythonContext, CommonContextKeys)),
        (table(LIVE, "Python functions", 1), CONTRIBUTING),
        (table(LIVE, "HTTP"), dotted("http", HttpCall)),
        (table(LIVE, "SQL"), own(SqlContext, CommonContextKeys)),
        (table(LIVE, "Programs"), own(CommandContext, CommonContextKeys)),
        (table(SCRIPTS, "Offline answers"), own(ScriptEntry)),
        (table(SCRIPTS, "Offline answers", 1), own(ScriptedAnswer)),
        (table(SCRIPTS, "Offline answers", 2), own(ScriptedError)),
        (table("docs/problems.md", "Problems"), {code.value for code in Code}),
        (table(DURABILITY, "Tools and their outcome"), set(ExecutionStatus)),
        (table(PYTHON, "Tasks", 1), {field.name for field in fields(Given)}),
    ],
    ids=lambda value: value.heading if isinstance(value, Table) else "",
)
def test_what_there_is_is_listed_and_nothing_else(listed: Table, there_is: set[str]) -> None:
    assert set(listed.rows) == there_is


def test_what_calls_and_usage_hold_is_told_with_the_answer() -> None:
    rows = table(SCRIPTS, "Offline answers", 1).rows

    assert all(f"{name}:" in rows["tool_calls"][0] for name in own(ScriptedCall))
    assert all(f"`{name}`" in rows["usage"][0] for name in own(ScriptedUsage))


def test_the_arguments_of_the_tools_for_working_together_are_told(tmp_path: Path) -> None:
    loaded = load_config(
        project_of(page(AGENTS), tmp_path) / "config.yaml", environ=ENVIRON, cwd=tmp_path
    )
    editor = resolve(load_project(loaded, environ=ENVIRON), "editor")
    told = table(AGENTS, "Starting, waiting, writing").rows

    specs = [coordination_spec(tool, editor) for tool in COORDINATION_TOOLS.values()]

    assert {spec.name: properties_of(spec.parameters) for spec in specs} == {
        name: set(re.findall(r"`(\w+)`", arguments)) for name, (arguments, *_) in told.items()
    }


def properties_of(schema: JsonObject) -> set[str]:
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return set(properties)


@pytest.mark.parametrize(
    ("listed", "model"),
    [
        (table(AGENTS, "Keys of an agent"), AgentDefinition),
        (table(AGENTS, "Limits"), ResolvedLimits),
        (table(AGENTS, "Keys of every tool"), CommonToolKeys),
        (table(AGENTS, "`read_file`"), BuiltinTool),
        (table(SKILLS, "In YAML"), SkillDefinition),
        (table(CONFIG, "The config"), Config),
        (table(CONFIG, "Database"), DatabaseConfig),
        (table(CONFIG, "Databases"), NamedDatabase),
        (table(CONFIG, "Broker"), BrokerConfig),
        (table(LIVE, "Contributors"), CommonContextKeys),
        (table(LIVE, "Files"), FileContext),
        (table(LIVE, "HTTP"), HttpCall),
        (table(LIVE, "SQL"), SqlContext),
        (table(LIVE, "Programs"), CommandContext),
        (table(CONFIG, "Worker"), WorkerConfig),
        (table(CONFIG, "Approvals"), ApprovalsConfig),
        (table(CONFIG, "Clients"), AnthropicClient),
        (table(CONFIG, "Clients", 1), ScriptedClient),
        (table(CONFIG, "Models"), ModelConfig),
        (table(CONFIG, "Defaults"), AgentDefaults),
    ],
    ids=lambda value: value.heading if isinstance(value, Table) else "",
)
def test_a_default_is_told_as_it_is(listed: Table, model: type[BaseModel]) -> None:
    for key, (told, *_) in listed.rows.items():
        default = model.model_fields[key.rpartition(".")[2]].default
        if isinstance(default, str | int | timedelta | Secret) and default != "":
            assert as_value(told, type(default)) == default, key


def as_value(told: str, kind: type) -> object:
    """Read a default that a table tells of as what the model has."""
    text = told.strip("`")
    if kind is timedelta:
        return parse_duration(text)
    if issubclass(kind, Secret):
        return kind.from_text(text)
    return json.loads(text) if issubclass(kind, int) else text


def test_a_problem_is_explained_as_in_the_code() -> None:
    rows = table("docs/problems.md", "Problems").rows

    assert {code: meaning for code, (meaning, *_) in rows.items()} == {
        code.value: code.meaning for code in Code
    }


def test_the_problem_that_is_shown_is_what_the_loader_says(tmp_path: Path) -> None:
    shown = page("docs/problems.md").blocks("")[0].text
    faulty = re.search(r"^    (instrutions: .*)$", shown, re.MULTILINE)
    assert faulty
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hello.yaml").write_text(f"name: hello\ndescription: Hi.\n{faulty[1]}\n")
    loaded = load_config(None, environ={}, cwd=tmp_path)

    problems = load_project(loaded, environ={}).problems

    assert list(as_text(problems)) == shown.splitlines()
