import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.clients.anthropic.output_format import fit
from runner.core.jsonvalue import JsonObject, JsonValue

TEXT: JsonObject = {"type": "string"}
A_REFERENCE: JsonObject = {"$ref": "#/$defs/a"}


def an_object(properties: JsonObject, **more: JsonValue) -> JsonObject:
    return {"type": "object", "properties": properties, **more}


def closed(properties: JsonObject, **more: JsonValue) -> JsonObject:
    return {**an_object(properties, **more), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "fitted"),
    [
        pytest.param(
            an_object({"a": an_object({}, additionalProperties=True)}),
            closed({"a": closed({})}),
            id="objects-are-closed",
        ),
        pytest.param(
            an_object({"n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}}),
            closed({"n": {"type": "integer"}}),
            id="bounds-are-left-out",
        ),
        pytest.param(
            an_object({"s": {"type": "string", "pattern": "^a+$", "format": "date"}}),
            closed({"s": {"type": "string", "pattern": "^a+$", "format": "date"}}),
            id="plain-patterns-and-formats-stay",
        ),
        pytest.param(
            an_object({"s": {"type": "string", "pattern": "(?=a)b", "format": "iri"}}),
            closed({"s": TEXT}),
            id="other-patterns-and-formats-go",
        ),
        pytest.param(
            an_object({"l": {"type": "array", "items": TEXT, "minItems": 4, "maxItems": 9}}),
            closed({"l": {"type": "array", "items": TEXT, "minItems": 1}}),
            id="of-counts-only-not-empty-stays",
        ),
        pytest.param(
            an_object({"u": {"oneOf": [TEXT, {"type": "null"}]}, "l": {"minItems": 0}}),
            closed({"u": {"anyOf": [TEXT, {"type": "null"}]}, "l": {}}),
            id="one-of-becomes-any-of",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": False},
            closed({}),
            id="an-object-with-nothing-in-it",
        ),
        pytest.param(
            an_object({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": {"enum": [1, 2]}}}),
            closed({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": {"enum": [1, 2]}}}),
            id="references-to-definitions-stay",
        ),
    ],
)
def test_a_schema_is_made_to_fit(schema: JsonObject, fitted: JsonObject) -> None:
    assert fit(schema) == fitted


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(TEXT, id="not-an-object"),
        pytest.param({"type": "object"}, id="any-object"),
        pytest.param(an_object({"m": {"type": ["object", "null"]}}), id="any-object-inside"),
        pytest.param(an_object({}, additionalProperties=TEXT), id="values-without-names"),
        pytest.param(an_object({"a": True}), id="anything-goes"),
        pytest.param(an_object({"a": {"not": TEXT}}), id="negation"),
        pytest.param(an_object({"a": {"allOf": [TEXT]}}), id="conjunction"),
        pytest.param(an_object({"a": {"anyOf": "x"}}), id="a-broken-union"),
        pytest.param({"type": "object", "properties": [1]}, id="broken-properties"),
        pytest.param(an_object({"a": {"$ref": "other.json"}}), id="a-reference-outside"),
        pytest.param(an_object({"a": {"$ref": "#/$defs/a"}}), id="a-reference-to-nothing"),
        pytest.param(
            {**an_object({"a": A_REFERENCE}), "$defs": {"a": {"items": A_REFERENCE}}},
            id="recursion",
        ),
        pytest.param(an_object({f"p{n}": TEXT for n in range(25)}), id="too-many-optional"),
        pytest.param(
            an_object(
                {f"p{n}": {"type": ["string", "null"]} for n in range(17)},
                required=[f"p{n}" for n in range(17)],
            ),
            id="too-many-unions",
        ),
    ],
)
def test_what_cannot_be_said_is_not_half_said(schema: JsonObject) -> None:
    assert fit(schema) is None


def test_many_required_properties_fit() -> None:
    names = [f"p{n}" for n in range(40)]

    assert fit(an_object(dict.fromkeys(names, TEXT), required=names))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "$defs", "$ref", "items", "anyOf", "required"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=st.dictionaries(st.sampled_from(["type", "properties", "anyOf"]), json_values))
def test_no_schema_is_too_odd_to_be_looked_at(schema: JsonObject) -> None:
    fitted = fit(schema)

    assert fitted is None or fitted["additionalProperties"] is False
