import pytest
from pydantic import JsonValue

from runner.definitions.parameters import as_json_schema


def test_the_short_form_names_types_and_defaults() -> None:
    schema = as_json_schema({"city": "string", "days": {"type": "integer", "default": 3}})

    assert schema == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"type": {"type": "string"}}},
        {"type": "object", "$defs": {}},
    ],
)
def test_json_schema_stays_as_it_is(schema: dict[str, JsonValue]) -> None:
    assert as_json_schema(schema) == schema


def test_properties_alone_make_an_object() -> None:
    properties: dict[str, JsonValue] = {"properties": {"a": {"type": "string"}, "b": True}}

    assert as_json_schema(properties) == {"type": "object", **properties}


@pytest.mark.parametrize("name", ["type", "properties"])
def test_a_parameter_may_be_called_like_a_keyword(name: str) -> None:
    schema = as_json_schema({name: "string"})

    assert schema["properties"] == {name: {"type": "string"}}


def test_no_parameters_are_an_object_without_properties() -> None:
    assert as_json_schema({}) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
