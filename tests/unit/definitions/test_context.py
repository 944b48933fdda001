from pathlib import Path

import pytest

from runner.definitions.codes import Code
from runner.definitions.context import CommandContext, FileContext, HttpContext, SqlContext
from runner.definitions.project import Project
from runner.definitions.report import as_text
from runner.definitions.snapshot import ResolvedAgent, resolve
from tests.unit.definitions.projects import load, only, told

CONFIG = """\
python_modules: [agents/python]
databases: {crm: {url: "postgresql://me:${DB_PASSWORD}@db.example/crm"}}
"""
ENVIRON = {"DB_PASSWORD": "hunter2", "CRM": "crm.example", "TOKEN": "hunter2-token"}
ALL = """\
kind: context
name: said
text: "The account is {context.account_id}, and {{this}} is text."
---
kind: context
name: handbook
file: handbook.md
trusted: true
---
kind: context
name: weather
python: weather:now
ttl: 5m
---
kind: context
name: orders
http:
  url: https://${CRM}/accounts/{context.account_id}/orders
  query: {limit: "10"}
  headers: {Authorization: "Bearer ${TOKEN}", Accept: application/json}
timeout: 3s
on_error: skip
---
kind: context
name: account
description: The customer's account.
sql: SELECT name FROM accounts WHERE id = :id AND created > '10:30'
database: crm
parameters: {id: "{context.account_id}"}
---
kind: context
name: disk
command: [df, -h, "{context.folder}"]
cwd: python
env: {API_TOKEN: "${TOKEN}"}
stdin: "{subject.text}"
max_chars: 500
"""
FILES = {
    "config.yaml": CONFIG,
    "agents/all.yaml": ALL,
    "agents/handbook.md": "# Handbook\n",
    "agents/.hidden": "x",
    "agents/python/weather.py": "raise SystemExit('imported')\n",
}


def load_all(tmp_path: Path, **more: str) -> Project:
    return load(tmp_path, {**FILES, **{f"agents/{k}.yaml": v for k, v in more.items()}}, ENVIRON)


def agent(tmp_path: Path, text: str, config: str = "") -> ResolvedAgent:
    files = {**FILES, "agents/a.yaml": text, "config.yaml": CONFIG + config}
    return resolve(load(tmp_path, files, ENVIRON), "a")


def names(resolved: ResolvedAgent) -> list[str]:
    return [context.name for context in resolved.context]


def test_each_kind_of_contributor_can_be_written(tmp_path: Path) -> None:
    project = load_all(tmp_path)

    assert list(as_text(project.problems)) == []
    assert list(project.registry.contexts) == [
        "said", "handbook", "weather", "orders", "account", "disk",
    ]  # fmt: skip
    handbook, disk = project.registry.context("handbook"), project.registry.get("context", "disk")
    assert isinstance(handbook, FileContext)
    assert handbook.file == "agents/handbook.md"
    assert isinstance(disk, CommandContext)
    assert disk.cwd == "agents/python"


def test_a_contributor_stands_in_an_agent_too(tmp_path: Path) -> None:
    text = "context: [account, {name: rules, file: handbook.md}, {name: x, text: y}]\n"

    resolved = agent(tmp_path, text)

    assert names(resolved) == ["account", "rules", "x"]
    assert [c.file for c in resolved.context if isinstance(c, FileContext)] == [
        "agents/handbook.md"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("description: x\n", ["house", "weather"], id="left-out-inherits"),
        pytest.param("context: [said]\n", ["house", "weather", "said"], id="its-own-come-after"),
        pytest.param("context: []\n", [], id="none-is-none"),
        pytest.param("inherit: false\ncontext: [said]\n", ["said"], id="it-need-not-inherit"),
        pytest.param("inherit: false\n", [], id="neither"),
        pytest.param(
            "context: [{name: house, text: mine}]\n", ["weather", "house"], id="its-own-is-stronger"
        ),
    ],
)
def test_the_config_gives_contributors_to_all_who_inherit(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    config = "context: [{name: house, file: agents/handbook.md}, weather]\n"

    assert names(agent(tmp_path, text, config)) == expected


def test_a_snapshot_holds_references_and_no_secret(tmp_path: Path) -> None:
    resolved = agent(tmp_path, "context: [orders, disk, account]\n")

    stored = resolved.canonical()
    assert "hunter2" not in stored + repr(resolved)
    assert "Bearer ${TOKEN}" in stored
    assert "https://${CRM}/accounts/{context.account_id}/orders" in stored
    assert ResolvedAgent.from_canonical(stored) == resolved
    assert ResolvedAgent.from_canonical(stored).content_hash() == resolved.content_hash()


def test_another_value_of_a_variable_is_no_other_definition(tmp_path: Path) -> None:
    files = {**FILES, "agents/a.yaml": "context: [orders]\n"}

    first = resolve(load(tmp_path, files, ENVIRON), "a")
    second = resolve(load(tmp_path, files, {**ENVIRON, "TOKEN": "other"}), "a")

    assert first.content_hash() == second.content_hash()


def test_a_snapshot_of_before_there_were_contributors_has_none(tmp_path: Path) -> None:
    stored = agent(tmp_path, "context: []\n").canonical().replace('"context":[],', "")

    assert ResolvedAgent.from_canonical(stored).context == ()


def test_validating_imports_nothing_and_asks_nobody(tmp_path: Path) -> None:
    assert load_all(tmp_path, a="context: [weather, orders, account, disk]\n").is_sound


MISTAKES = [
    ("text: hi\nmax_char: 9", "max_char", Code.UNKNOWN_KEY),
    ("txt: hi", "txt", Code.UNKNOWN_KEY),
    ("text: hi\nfile: handbook.md", "kind", Code.KEY_CONFLICT),
    ("description: hi", "kind", Code.MISSING_KEY),
    ("text: hi\non_error: ignore", "ignore", Code.BAD_VALUE),
    ("text: 'hi {account_id}'", "'hi", Code.BAD_TEMPLATE),
    ("text: hi\nttl: 5", "5", Code.BAD_DURATION),
    ("text: hi\ntrusted: 'true'", "'true'", Code.WRONG_TYPE),
    ("file: ../../etc/passwd", "..", Code.PATH_OUTSIDE),
    ("file: none.md", "none", Code.MISSING_FILE),
    ("file: .hidden", ".hidden", Code.PATH_OUTSIDE),
    ("python: os:system", "os", Code.MODULE_NOT_ALLOWED),
    ("python: weather", "weather", Code.BAD_VALUE),
    ("http: {urll: 'https://a.example'}", "urll", Code.UNKNOWN_KEY),
    ("http: {url: 'ftp://a.example'}", "'ftp", Code.BAD_URL),
    ("http: {url: 'https://{context.host}/'}", "'https", Code.BAD_URL),
    ("http: {url: 'https://a.example{context.b}/'}", "'https", Code.BAD_URL),
    ("http: {url: 'https://u:hunter2@a.example/'}", "'https", Code.BAD_URL),
    ("http: {url: '${CRM}{context.b}'}", "'$", Code.BAD_URL),
    ("http: {url: 'https://a.example/${UNSET}'}", "'https", Code.MISSING_VARIABLE),
    ("http: {url: 'https://a.example', body: {a: 1}}", "body", Code.KEY_CONFLICT),
    ("http: {url: 'https://a.example', method: PUT}", "PUT", Code.BAD_VALUE),
    (
        "http: {url: 'https://a.example', method: POST, body: {a: ['{b}']}}",
        "'{b}'",
        Code.BAD_TEMPLATE,
    ),
    (
        "http: {url: 'https://a.example', method: POST, max_redirects: 1}",
        "max_redirects",
        Code.KEY_CONFLICT,
    ),
    (
        "http: {url: 'https://a.example', headers: {Authorization: hunter2}}",
        "hunter2",
        Code.SECRET_IN_FILE,
    ),
    ("http: {url: 'https://a.example', headers: {'X A': b}}", "'X A'", Code.BAD_NAME),
    ("http: {url: 'https://a.example', query: {api_key: hunter2}}", "hunter2", Code.SECRET_IN_FILE),
    ("http: {url: 'https://a.example/?b=c&api_key=hunter2'}", "'https", Code.SECRET_IN_FILE),
    ("sql: SELECT 1\ndatabase: crn", "crn", Code.UNKNOWN_DATABASE),
    ("sql: SELECT 1", "kind", Code.MISSING_KEY),
    ("sql: SELECT 1; SELECT 2\ndatabase: crm", "SELECT", Code.BAD_SQL),
    ("sql: SELECT :id\ndatabase: crm", "SELECT", Code.BAD_SQL),
    ("sql: SELECT 1\ndatabase: crm\nparameters: {id: x}", "id:", Code.BAD_SQL),
    ("command: []", "[]", Code.BAD_VALUE),
    ("command: ls", "ls", Code.WRONG_TYPE),
    ("command: ['{context.program}']", "'{con", Code.BAD_TEMPLATE),
    ("command: [ls]\ncwd: none", "none", Code.MISSING_FILE),
    ("command: [ls]\nenv: {DB_PASSWORD: hunter2}", "hunter2", Code.SECRET_IN_FILE),
    ("command: [ls]\nenv: {1A: b}", "1A", Code.BAD_NAME),
]


@pytest.mark.parametrize(("text", "at", "code"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_a_mistake_is_one_problem_at_its_own_place(
    tmp_path: Path, text: str, at: str, code: Code
) -> None:
    document = f"kind: context\n{text}\n"
    problem = only(load_all(tmp_path, broken=document).problems)

    line = document.splitlines()[problem.line - 1]
    assert (problem.code, problem.path) == (code, "agents/broken.yaml")
    assert line[problem.column - 1 :].startswith(at)
    assert "hunter2" not in "".join(as_text([problem]))


def test_a_secret_that_is_named_may_stand_in_a_url(tmp_path: Path) -> None:
    url = "https://a.example/?api_key=${TOKEN}&token={principal.token}&b=c#api_key=x"

    assert load_all(tmp_path, fine=f"kind: context\nhttp: {{url: '{url}'}}\n").problems == ()


def test_a_mistake_within_an_agent_is_one_problem_as_well(tmp_path: Path) -> None:
    text = "context:\n  - {name: x, http: {url: 'https://a.example', heders: {A: b}}}\n"

    problem = only(load_all(tmp_path, a=text).problems)

    assert (problem.code, problem.line, problem.column) == (Code.UNKNOWN_KEY, 2, 48)
    assert "headers" in problem.hint


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("context: [acount]\n", Code.UNKNOWN_CONTEXT, "account"),
        ("context: [zzz]\n", Code.UNKNOWN_CONTEXT, "kind: context"),
        ("context: [account, account]\n", Code.DUPLICATE_CONTEXT, ""),
        ("context: account\n", Code.WRONG_TYPE, "[ ]"),
        ("context:\n", Code.NULL_VALUE, "leave the key out"),
        ("sub_agents: [{name: b, context: [acount]}]\n", Code.UNKNOWN_CONTEXT, "account"),
        ("context: [{name: x}]\n", Code.MISSING_KEY, ""),
    ],
)
def test_a_list_of_contributors_names_what_there_is(
    tmp_path: Path, text: str, code: Code, hint: str
) -> None:
    problem = only(load_all(tmp_path, a=text).problems)

    assert problem.code == code
    assert hint in problem.hint


def test_the_config_names_what_there_is(tmp_path: Path) -> None:
    files = {**FILES, "config.yaml": CONFIG + "context: [weathr, {name: y, file: none.md}]\n"}

    problems = load(tmp_path, files, ENVIRON).problems

    assert told(problems) == ["config.yaml:3:11 unknown-context", "config.yaml:3:35 missing-file"]


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("outbound: {private_networks: [10.0.0.1/8]}\n", Code.BAD_VALUE),
        ("outbound: {private_networks: [localhost]}\n", Code.BAD_VALUE),
        ("outbound: {private_network: []}\n", Code.UNKNOWN_KEY),
        ("databases: {x: {url: 'mysql://h/d'}}\n", Code.BAD_URL),
        ("databases: {x: {}}\n", Code.MISSING_KEY),
    ],
)
def test_what_may_be_reached_is_checked(tmp_path: Path, config: str, code: Code) -> None:
    problem = only(load(tmp_path, {"config.yaml": config}).problems)

    assert problem.code == code


def test_networks_and_databases_are_read(tmp_path: Path) -> None:
    config = CONFIG + "outbound: {private_networks: [10.0.0.0/8, '::1']}\n"

    project = load(tmp_path, {**FILES, "config.yaml": config}, ENVIRON)

    assert project.problems == ()
    assert project.config.outbound.private_networks == ("10.0.0.0/8", "::1")
    assert "hunter2" not in repr(project.config)


def test_two_contributors_of_one_name_are_told(tmp_path: Path) -> None:
    problem = only(load_all(tmp_path, said="kind: context\ntext: again\n").problems)

    assert problem.code == Code.DUPLICATE_DEFINITION


def test_the_kind_can_be_guessed_from_the_keys(tmp_path: Path) -> None:
    problem = only(load_all(tmp_path, broken="sql: SELECT 1\ndatabase: crm\n").problems)

    assert (problem.code, problem.hint) == (Code.MISSING_KEY, "add 'kind: context'")


def test_models_of_the_definitions_are_what_was_written(tmp_path: Path) -> None:
    registry = load_all(tmp_path).registry

    orders, account = registry.context("orders"), registry.context("account")
    assert isinstance(orders, HttpContext)
    assert isinstance(account, SqlContext)
    assert str(orders.http.headers["Authorization"]) == "Bearer ${TOKEN}"
    assert (orders.on_error, orders.timeout.total_seconds()) == ("skip", 3.0)
    assert (account.database, account.max_rows, account.trusted) == ("crm", 100, False)
