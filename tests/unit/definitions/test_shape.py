from runner.definitions.agent import AgentDefinition
from runner.definitions.config import Config
from runner.definitions.shape import Shape

AGENT = Shape(AgentDefinition)
CONFIG = Shape(Config)


def test_prose_is_what_the_model_marks() -> None:
    tool = AGENT.child("tools").child(0)

    assert AGENT.child("instructions").is_prose
    assert tool.child("description").is_prose
    assert not AGENT.child("name").is_prose
    assert not AGENT.child("tools").child(0).child("name").is_prose


def test_a_schema_is_json_and_its_path_is_a_text() -> None:
    schema = AGENT.child("input_schema")

    assert (schema.is_json, schema.is_prose) == (True, False)
    assert not AGENT.child("limits").is_json


def test_secrets_are_hidden_from_where_they_may_stand() -> None:
    client = CONFIG.child("clients").child("any")

    assert (client.child("api_key").is_secret, client.child("api_key").hides) == (True, True)
    assert (client.is_secret, client.hides, CONFIG.hides) == (False, True, True)
    assert not client.child("timeout").hides
    assert not CONFIG.child("models").hides


def test_agents_within_agents_may_have_contributors_with_secrets() -> None:
    inner = AGENT.child("sub_agents").child(0)

    assert (AGENT.hides, inner.hides, inner.child("context").hides) == (True, True, True)
    assert not AGENT.child("tools").hides
    assert inner.child("sub_agents").child(0).child("tools").keys == AGENT.child("tools").keys
    assert inner.child("<mapping>").child("instructions").is_prose


def test_a_tag_narrows_to_one_variant() -> None:
    tool = AGENT.child("tools").child(0)
    builtin = tool.child("<builtin>")

    assert {"python", "root", "agents"} <= set(tool.keys)
    assert "root" not in tool.child("<python>").keys
    assert {"root", "agents"} <= set(builtin.keys)
    assert "root" not in builtin.child("<launch_agent>").keys
    assert tool.child("<nothing>").keys == ()


def test_what_the_model_does_not_have_is_unknown() -> None:
    assert AGENT.child("name").is_known
    assert not AGENT.child("nam").is_known
    assert not AGENT.child("name").child("deeper").is_known
    assert AGENT.child("nam") is AGENT.child("nam")
