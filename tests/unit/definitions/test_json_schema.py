import pytest
from pydantic import JsonValue

from runner.definitions.json_schema import MAX_COMPLAINTS, Validator, check_schema

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "days": {"type": ["integer", "null"], "minimum": 1},
        "unit": {"enum": ["C", "F"]},
        "fixed": {"const": 7},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def test_a_value_that_fits_has_no_complaints() -> None:
    assert Validator(SCHEMA).complaints({"city": "Oslo", "days": None, "tags": ["a"]}) == ()


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "the value must be of type object, not array"),
        ({}, "the value lacks 'city'"),
        ({"city": "Oslo", "town": 1}, "the value has unexpected 'town'"),
        ({"city": 1}, "'city' must be of type string, not integer"),
        ({"city": "O"}, "'city' must be at least 2 characters long"),
        ({"city": "oslo"}, "'city' must be text that matches '^[A-Z]'"),
        ({"city": "Oslo", "days": "3"}, "'days' must be of type integer or null, not string"),
        ({"city": "Oslo", "days": 0}, "'days' must be at least 1"),
        ({"city": "Oslo", "unit": "K"}, """'unit' must be one of "C", "F\""""),
        ({"city": "Oslo", "fixed": 8}, "'fixed' must be 7"),
        ({"city": "Oslo", "tags": [1.5]}, "'tags[0]' must be of type string, not number"),
        (
            {"city": "Oslo", "tags": ["a", "a"]},
            "'tags' must be what 'uniqueItems' in the schema allows",
        ),
    ],
)
def test_a_complaint_says_what_was_expected(value: object, complaint: str) -> None:
    assert Validator(SCHEMA).complaints(value) == (complaint,)


def test_a_complaint_never_quotes_the_value() -> None:
    schema: dict[str, JsonValue] = {"properties": {"a": {"anyOf": [{"type": "null"}]}}}

    complaints = Validator(schema).complaints({"a": "hunter2" * 1000})

    assert len(complaints) == 1
    assert "hunter2" not in complaints[0]


def test_a_long_name_is_cut() -> None:
    (complaint,) = Validator(SCHEMA).complaints({"city": "Oslo", "x" * 5000: 1})

    assert len(complaint) < 300


def test_a_property_named_like_a_keyword_is_looked_into() -> None:
    schema: dict[str, JsonValue] = {"properties": {"default": {"items": {"$ref": "#/no"}}}}

    (complaint,) = check_schema(schema)

    assert complaint.path == ("properties", "default", "items", "$ref")


def test_complaints_are_bounded() -> None:
    value = {"city": "Oslo", "tags": list(range(1000))}

    assert len(Validator(SCHEMA).complaints(value)) == MAX_COMPLAINTS


def test_a_value_of_python_is_called_by_its_class() -> None:
    assert Validator({"type": "string"}).complaints({1}) == (
        "the value must be of type string, not set",
    )


def test_a_reference_out_of_the_schema_is_not_followed() -> None:
    complaints = Validator({"$ref": "http://127.0.0.1:9/schema"}).complaints(1)

    assert complaints == ("the schema refers to a part that does not exist",)


def test_a_value_without_end_is_refused() -> None:
    value: list[object] = []
    value.append(value)

    complaints = Validator({"items": {"$ref": "#"}}).complaints(value)

    assert complaints == ("the value is nested too deeply to be checked",)


def test_a_valid_schema_has_no_complaints() -> None:
    assert check_schema(SCHEMA) == ()
    assert check_schema({"$defs": {"a": {}}, "$ref": "#/$defs/a"}) == ()
    assert check_schema({"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}) == ()
    assert check_schema({"default": {"$ref": "data"}, "properties": {"$ref": {}}}) == ()


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        ({"type": "text"}, ("type",), "expected a type: array"),
        ({"properties": {"a": {"type": 3}}}, ("properties", "a", "type"), "expected a type"),
        ({"properties": {"a": 3}}, ("properties", "a"), "object or boolean, not integer"),
        ({"required": "a"}, ("required",), "array, not string"),
        ({"pattern": "("}, ("pattern",), "format 'regex'"),
        ({"minLength": -1}, ("minLength",), "at least 0"),
        ({"$ref": "#/$defs/a"}, ("$ref",), "nothing in the schema is at '#/$defs/a'"),
        ({"allOf": [{"$ref": "b.json"}]}, ("allOf", 0, "$ref"), "stay within the schema"),
        ({"$ref": "#"}, (), "leads back to itself"),
    ],
)
def test_a_flaw_in_a_schema_is_told_with_its_path(
    schema: dict[str, JsonValue], path: tuple[str | int, ...], words: str
) -> None:
    (complaint,) = check_schema(schema)

    assert complaint.path == path
    assert words in complaint.message


def test_a_schema_without_end_is_told() -> None:
    schema: dict[str, JsonValue] = {}
    schema["not"] = schema

    assert [complaint.message for complaint in check_schema(schema)] == ["nested too deeply"]
