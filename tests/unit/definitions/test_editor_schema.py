import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import runner
from runner.definitions.editor_schema import schema_texts, write_schemas

ROOT = Path(str(runner.__file__)).parent.parent
TEXTS = schema_texts()


def complaints(schema: str, document: object) -> list[str]:
    resources = {
        name: DRAFT202012.create_resource(json.loads(text)) for name, text in TEXTS.items()
    }
    registry = Registry().with_resources(resources.items())
    validator = Draft202012Validator({"$ref": f"{schema}.schema.json"}, registry=registry)
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("name", TEXTS)
def test_a_checked_in_schema_is_current(name: str) -> None:
    assert (ROOT / "schemas" / name).read_text() == TEXTS[name], "run 'runner schema'"


def test_no_other_schema_is_checked_in() -> None:
    assert {path.name for path in (ROOT / "schemas").iterdir()} == set(TEXTS)


def test_schemas_are_written_into_a_new_folder(tmp_path: Path) -> None:
    paths = write_schemas(tmp_path / "deep" / "schemas")

    assert {path.name: path.read_text() for path in paths} == TEXTS


@pytest.mark.parametrize("name", TEXTS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(TEXTS[name]))
    assert "null" not in TEXTS[name]


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ("agent", {}),
        ("agent", {"name": "a", "tools": ["b", {"name": "c", "python": "m:f"}], "x-any": 1}),
        ("agent", {"limits": {"max_iterations": "${N}", "timeout": "1h"}, "model": "${M}"}),
        ("agent", {"thinking": {"effort": "high"}, "input_schema": {"a": None}}),
        ("agent", {"thinking": "off", "input_schema": "a.json", "name": "${NAME}"}),
        ("agent", {"sub_agents": ["b", {"name": "c", "sub_agents": [{"name": "d"}]}]}),
        ("agent", {"tools": [{"name": "b", "builtin": "launch_agent", "agents": ["c"]}]}),
        ("agent", {"limits": {"max_depth": 3, "max_children": "${N}", "max_fan_out": 1}}),
        ("tool", {"kind": "tool", "builtin": "launch_agent", "agents": ["a"]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "deny", "tools": ["mail_*"]}]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "ask", "expires": "4h", "when": "x"}]}),
        (
            "policy",
            {"kind": "policy", "rules": [{"effect": "${E}", "principals": {"a": [1, "b"]}}]},
        ),
        ("policy", {"kind": "policy", "python": "rules:office", "name": "p", "x-any": 1}),
        ("definition", {"kind": "policy", "rules": []}),
        ("agent", {"policies": ["p", {"name": "q", "rules": [{"effect": "allow"}]}]}),
        ("config", {"authorization": ["p", {"name": "q", "python": "m:f"}]}),
        ("tool", {"kind": "tool", "builtin": "wait_for", "max_result_chars": 9}),
        ("tool", {"kind": "tool", "builtin": "send_message", "description": "Tell."}),
        ("tool", {"kind": "tool", "builtin": "read_file", "x-any": {}}),
        ("tool", {"kind": "tool", "name": "a", "python": "m:f", "parameters": {"a": "string"}}),
        ("tool", {"kind": "tool", "python": "${F}", "read_only": "${R}", "timeout": "${T}"}),
        ("skill", {"kind": "skill", "description": "d", "content": "c", "x-any": 1}),
        ("skill", {"kind": "skill", "name": "a", "description": "d", "content_file": "c.md"}),
        ("agent", {"skills": ["a", {"name": "b", "description": "c", "content": "d"}]}),
        ("agent", {"prompt": {"sections": ["task", "agent"]}, "inherit": "${I}"}),
        ("definition", {"kind": "skill", "description": "d", "content": "c"}),
        ("agent", {"context": ["a", {"name": "b", "text": "c"}], "inherit": False}),
        ("context", {"kind": "context", "text": "a", "trusted": True, "ttl": "${TTL}", "x-a": 1}),
        ("context", {"kind": "context", "command": ["a", "{context.b}"], "env": {"A": "${B}"}}),
        ("context", {"kind": "context", "sql": "SELECT 1", "database": "crm", "max_rows": 5}),
        ("context", {"kind": "context", "http": {"url": "${U}/a", "body": {"a": None}}}),
        ("definition", {"kind": "context", "file": "a.md"}),
        ("definition", {"kind": "tool", "builtin": "read_file"}),
        ("definition", {"name": "a"}),
        ("config", {}),
        ("config", {"clients": {"a": {"type": "anthropic", "api_key": "${K}"}}}),
        ("config", {"worker": {"threads": "${T:-3}"}, "database": {"url": "sqlite:///x"}}),
    ],
)
def test_what_the_loader_takes_is_valid(schema: str, document: object) -> None:
    assert complaints(schema, document) == []


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ("agent", {"nam": "a"}),
        ("agent", {"kind": "tool"}),
        ("agent", {"kind": "${K}"}),
        ("agent", {"tools": None}),
        ("agent", {"tools": [{"python": "m:f"}]}),
        ("agent", {"limits": {"timeout": "soon"}}),
        ("agent", {"limits": {"max_iterations": 0}}),
        ("agent", {"thinking": "on"}),
        ("agent", {"sub_agents": [{"description": "without a name"}]}),
        ("agent", {"sub_agents": [{"name": "b", "x-any": 1}]}),
        ("agent", {"sub_agents": [{"name": "b", "sub_agents": [{"name": "c", "nam": 1}]}]}),
        ("agent", {"limits": {"max_depth": 0}}),
        ("tool", {"kind": "tool", "builtin": "wait_for", "root": "x"}),
        ("tool", {"kind": "tool", "builtin": "send_message", "timeout": "3s"}),
        ("tool", {"builtin": "read_file"}),
        ("tool", {"kind": "tool"}),
        ("tool", {"kind": "tool", "builtin": "read_fle"}),
        ("tool", {"kind": "tool", "builtin": "read_file", "x": 1}),
        ("policy", {"rules": []}),
        ("policy", {"kind": "policy"}),
        ("policy", {"kind": "policy", "rules": [{"tools": ["a"]}]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "maybe"}]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "deny", "actions": []}]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "deny", "tools": ["a?"]}]}),
        ("policy", {"kind": "policy", "rules": [{"effect": "deny", "principals": {"a": {}}}]}),
        ("definition", {"kind": "policy"}),
        ("agent", {"policies": [{"rules": []}]}),
        ("config", {"authorization": "p"}),
        ("agent", {"context": [{"text": "without a name"}]}),
        ("context", {"text": "a"}),
        ("context", {"kind": "context"}),
        ("context", {"kind": "context", "text": "a", "on_error": "ignore"}),
        ("context", {"kind": "context", "http": {"urls": "https://a.example"}}),
        ("definition", {"kind": "context", "name": "a"}),
        ("definition", {"kind": "tool", "name": "a"}),
        ("skill", {"kind": "skill", "content": "c"}),
        ("skill", {"description": "d", "content": "c"}),
        ("skill", {"kind": "skill", "description": "d" * 1025}),
        ("agent", {"prompt": {"sections": ["tasks"]}}),
        ("definition", {"kind": "skill", "description": "d", "instructions": "c"}),
        ("definition", {"instruction": "a"}),
        ("config", {"databse": {}}),
        ("config", {"worker": {"lease": 30}}),
        ("config", {"clients": {"a": {"type": "oops"}}}),
    ],
)
def test_what_the_loader_refuses_is_not(schema: str, document: object) -> None:
    assert complaints(schema, document)


def test_editors_can_show_what_a_key_is_for() -> None:
    agent = json.loads(TEXTS["agent.schema.json"])
    tool = json.loads(TEXTS["tool.schema.json"])

    assert agent["properties"]["description"]["description"] == "What it is for, in a sentence."
    assert tool["$defs"]["BuiltinTool"]["properties"]["timeout"]["default"] == "2m"
    assert "name" not in tool["$defs"]["BuiltinTool"]["required"]
