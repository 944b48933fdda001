"""What the documents say, held against what is there."""

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from runner import ContributorContext, Given, Runner, ToolContext
from runner.bootstrap.conversation import Conversation
from runner.cli.commands import COMMANDS
from runner.cli.main import load
from runner.clients.script import (
    ScriptedAnswer,
    ScriptedCall,
    ScriptedError,
    ScriptedUsage,
    ScriptEntry,
)
from runner.clients.script_files import load_scripts
from runner.core import errors
from runner.core.authorization import Action
from runner.core.jsonvalue import JsonObject
from runner.core.states import ExecutionStatus, TurnStatus
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
from tests.architecture.source import MODULES
from tests.example_project import REPOSITORY
from tests.markdown import PAGES, Page, Table, page

#: Files that examples name and that are not worth showing.
NAMED_FILES = {
    "agents/prompts/translator.md": "Translate the letter.\n",
    "agents/schemas/translation.json": '{"type": "object"}\n',
    "agents/letters/first.txt": "Dear reader,\n",
    "agents/handbook.md": "# Handbook\n",
    "agents/_offline/first.yaml": "[]\n",
    "agents/skills/house-style/examples/delivery.md": "Dear Ms Berg,\n",
}
#: What examples want to be set.
ENVIRON = {
    "ANTHROPIC_API_KEY": "none",
    "CRM_PASSWORD": "none",
    "SHOP_HOST": "shop.example.com",
    "SHOP_TOKEN": "none",
}

every_page = pytest.mark.parametrize("each", PAGES, ids=lambda each: each.name)


def project_of(each: Page, root: Path) -> Path:
    """Write a page's examples where they say they belong, with the first config that it shows."""
    configs = [block.text for block in each.blocks("yaml") if block.path == "config.yaml"]
    files = {
        **NAMED_FILES,
        "config.yaml": next(iter(configs), (REPOSITORY / "config.yaml").read_text("utf-8")),
        **{
            block.path: block.content
            for language in ("yaml", "python", "markdown")
            for block in each.blocks(language)
            if block.path not in {"", "config.yaml"}
        },
    }
    (root / "agents" / "python").mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


@every_page
def test_an_example_in_yaml_says_which_file_it_is(each: Page) -> None:
    assert all(block.path for block in each.blocks("yaml"))


@every_page
def test_the_definitions_of_a_page_are_valid(each: Page, tmp_path: Path) -> None:
    loaded = load_config(project_of(each, tmp_path) / "config.yaml", environ=ENVIRON, cwd=tmp_path)

    project = load_project(loaded, environ=ENVIRON)

    assert list(as_text(project.problems)) == []


@every_page
def test_the_configs_of_a_page_are_valid(each: Page, tmp_path: Path) -> None:
    config = project_of(each, tmp_path) / "config.yaml"
    for block in each.blocks("yaml"):
        if block.path == "config.yaml":
            config.write_text(block.text)

            loaded = load_config(config, environ=ENVIRON, cwd=tmp_path)

            assert list(as_text(loaded.problems)) == []


@every_page
def test_the_offline_answers_of_a_page_can_be_read(each: Page, tmp_path: Path) -> None:
    scripts = [b.path for b in each.blocks("yaml") if b.path.startswith("agents/_offline/")]

    entries = load_scripts(scripts, root=project_of(each, tmp_path))

    assert bool(entries) == bool(scripts)


@pytest.mark.parametrize("config", ["config.yaml", "config.example.yaml"])
def test_the_project_of_the_repository_is_valid(config: str) -> None:
    loaded = load_config(REPOSITORY / config, environ={}, cwd=REPOSITORY)

    project = load_project(loaded, environ={})

    assert list(as_text(project.problems)) == []
    assert set(project.registry.agents) == {
        "archivist",
        "auditor",
        "briefer",
        "editor",
        "fact_checker",
        "guide",
        "researcher",
        "support",
    }


@pytest.mark.parametrize(
    "path",
    [
        *(REPOSITORY / name for name in ("config.yaml", "config.example.yaml")),
        *sorted(
            path for path in REPOSITORY.glob("agents/**/*.yaml") if "_offline" not in path.parts
        ),
    ],
    ids=lambda path: path.relative_to(REPOSITORY).as_posix(),
)
def test_a_file_says_to_editors_which_schema_it_has(path: Path) -> None:
    first = path.read_text("utf-8").splitlines()[0]

    _, marked, schema = first.partition("# yaml-language-server: $schema=")

    assert marked
    assert (path.parent / schema).resolve().parent == REPOSITORY / "schemas"
    assert (path.parent / schema).is_file()


def table(name: str, heading: str, number: int = 0) -> Table:
    return page(name).tables(heading)[number]


def own(model: type[BaseModel], base: type[BaseModel] | None = None) -> set[str]:
    return set(model.model_fields) - set(base.model_fields if base else ())


def dotted(prefix: str, *models: type[BaseModel]) -> set[str]:
    return {f"{prefix}.{name}" for model in models for name in model.model_fields}


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


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
DURABILITY, PYTHON = "docs/durability.md", "docs/python.md"


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


def strings_of(module: Path, keyword: str) -> Iterator[str]:
    """The texts that are given under a keyword somewhere in a module."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == keyword:
            yield from (
                each.value
                for each in ast.walk(node.value)
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def calls_of(module: Path, name: str) -> Iterator[str]:
    """The first texts that are handed to a method somewhere in a module."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=attribute), args=[ast.Constant(value=str(text)), *_]
            ) if attribute == name:
                yield text


STORE_AND_ENGINE = [m for m in MODULES if {"store", "engine"} & set(m.parts)]


def test_every_event_is_listed_and_no_other() -> None:
    noted = {kind for module in STORE_AND_ENGINE for kind in calls_of(module, "note")}
    stored = {
        kind for module in STORE_AND_ENGINE for kind in strings_of(module, "kind") if "." in kind
    }

    assert set(table(DURABILITY, "Events").rows) == noted | stored


def test_every_reason_for_which_a_turn_fails_is_listed_and_no_other() -> None:
    listed = set(table(DURABILITY, "Why a turn fails").rows)
    given = {code for module in STORE_AND_ENGINE for code in strings_of(module, "code")}
    source = "".join(module.read_text("utf-8") for module in STORE_AND_ENGINE)

    assert given <= listed
    assert all(f'"{code}"' in source for code in listed)


def test_the_statuses_that_are_told_are_those_of_turns() -> None:
    assert set(table(DURABILITY, "States").rows) == set(TurnStatus)


@pytest.mark.parametrize(
    ("kind", "headings"),
    [
        (Runner, ["Tasks", "Reading", "Turns that work together", "Definitions and upkeep"]),
        (Conversation, ["Conversations"]),
    ],
)
def test_every_method_is_listed_with_its_parameters(kind: type, headings: Sequence[str]) -> None:
    rows = [name for heading in headings for name in page(PYTHON).tables(heading)[0].rows]
    methods: Mapping[str, Callable[..., object]] = {
        name: getattr(kind, name) for name in public(kind) if inspect.isfunction(vars(kind)[name])
    }
    told = set(rows)
    made_elsewhere = {name for name in methods if f"`{name}(" in page(PYTHON).text} - {
        row.partition("(")[0] for row in rows
    }

    assert told == {
        f"{name}({signature(method)})"
        for name, method in methods.items()
        if name not in made_elsewhere
    }


def signature(method: Callable[..., object]) -> str:
    """The parameters of a method, without their types."""
    _, *parameters = inspect.signature(method).parameters.values()
    shown, has_star = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
            has_star = True
        shown.append(f"{parameter.name}{default_of(parameter)}")
    return ", ".join(shown)


def default_of(parameter: inspect.Parameter) -> str:
    match parameter.default:
        case parameter.empty:
            return ""
        case Enum() as member:
            return f"={type(member).__name__}.{member.name}"
        case default:
            return f"={default!r}"


def test_an_error_that_is_told_of_exists() -> None:
    rows = table(PYTHON, "Errors").rows

    assert all(issubclass(getattr(errors, name), errors.RunnerError) for name in rows)


def commands_of(each: Page) -> Iterator[str]:
    """Every command line that a page shows."""
    for text in (
        *(b.text for b in each.blocks("sh")),
        *re.findall(r"`(runner [^`]+)`", each.prose),
    ):
        for line in text.splitlines():
            command = re.sub(r"\[.*?\]|#.*|\|.*", "", line).strip()
            if re.match(r"runner +[a-z]", command):
                yield command


def options_of(words: Sequence[str]) -> set[str]:
    """The options of a command, which the first of *words* name."""
    command = load(words[0])
    commands = getattr(command, "commands", None)
    if commands and words[1:]:
        command = commands[words[1]]
    return {"--help", *(name for parameter in command.params for name in parameter.opts)}


@every_page
def test_a_command_that_is_shown_exists_with_its_options(each: Page) -> None:
    for line in commands_of(each):
        words = re.sub(r'"[^"]*"', "TEXT", line).split()[1:]

        assert words[0] in COMMANDS, line
        assert {word for word in words if word.startswith("--")} <= options_of(words), line


@every_page
def test_a_link_leads_somewhere(each: Page) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", each.prose):
        name, _, anchor = target.partition("#")
        path = each.path.parent / name if name else each.path

        assert path.exists(), target
        if anchor:
            assert anchor in {anchor_of(heading) for heading in Page(path=path).headings}, target


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@every_page
def test_a_file_of_the_source_that_is_named_exists(each: Page) -> None:
    named = re.findall(r"`((?:agents|docs|runner|tests)/[\w/.-]+\.\w+)`", each.prose)

    assert all((REPOSITORY / name).is_file() for name in named), named
