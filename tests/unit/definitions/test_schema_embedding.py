import pytest
from pydantic import JsonValue

from runner.definitions.json_schema import Validator, check_schema
from runner.definitions.schema_embedding import embedded

PLACE = "/properties/input"

TREE: dict[str, JsonValue] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "tree",
    "type": "object",
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "default": {"$ref": "#/$defs/name"},
        "parts": {"type": "array", "items": {"$ref": "#"}},
        "kind": {"$ref": "#kind"},
        "$id": {"type": "string"},
        "note": {"const": {"$ref": "#/nowhere"}},
    },
    "required": ["name"],
    "anyOf": [{"minProperties": 1}, {"$ref": "#/$defs/name"}],
    "$defs": {"name": {"type": "string"}, "kind": {"$anchor": "kind", "enum": ["a"]}},
}


def around(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"type": "object", "properties": {"input": embedded(schema, PLACE)}}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"name": "a", "parts": [{"name": "b"}], "kind": "a", "default": "x", "$id": "y"}, True),
        ({"name": 3}, False),
        ({"name": "a", "default": 3}, False),
        ({"name": "a", "parts": [{}]}, False),
        ({"name": "a", "kind": "b"}, False),
        ({"name": "a", "note": {"$ref": "#/nowhere"}}, True),
    ],
)
def test_a_schema_means_the_same_inside_another(value: JsonValue, *, fits: bool) -> None:
    alone = {key: part for key, part in TREE.items() if key != "$id"}
    schema = around(TREE)

    assert check_schema(schema) == ()
    assert (Validator(alone).complaints(value) == ()) is fits
    assert (Validator(schema).complaints({"input": value}) == ()) is fits


def test_a_part_with_an_id_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a part of it has an \$id"):
        embedded({"properties": {"a": {"items": {"$id": "b"}}}}, PLACE)


def test_the_schema_itself_stays_as_it_is() -> None:
    before = repr(TREE)

    embedded(TREE, PLACE)

    assert repr(TREE) == before
