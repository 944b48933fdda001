from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from types import FunctionType
from typing import Annotated, Any, Literal, cast

import pytest
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypedDict

from runner.core.errors import ConfigError
from runner.core.jsonvalue import dump_json
from runner.core.tooling import ToolContext
from runner.definitions.json_schema import Validator
from runner.tools.schema import read_docstring, schema_of
from runner.tools.signature import Signature, read_signature
from tests.fakes.tools import tool_context


class Unit(Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    name: str
    height: float = 0.0


class Person(TypedDict):
    name: str


class Range(BaseModel):
    first: int
    last: int

    @field_validator("last")
    @classmethod
    def _not_seven(cls, value: int) -> int:
        if value == 7:
            raise KeyError("seven")
        if value == 8:
            raise ValueError("eight is too far")
        return value


def signature_of(function: Callable[..., object], *, typed: bool = True) -> Signature:
    return read_signature(cast("FunctionType", function), typed=typed)


def schema(function: Callable[..., object]) -> dict[str, Any]:
    docstring = read_docstring(cast("FunctionType", function))
    return schema_of(signature_of(function), docstring.parameters)


def plain_types(
    text: str,
    count: int,
    ratio: float,
    flag: bool,  # noqa: FBT001 - a tool's parameter
    words: list[str],
    mapping: dict[str, int],
    anything: Any,  # noqa: ANN401 - a tool's parameter
) -> None: ...


def rich_types(
    unit: Unit,
    place: Place,
    person: Person,
    span: Range,
    day: date,
    mode: Literal["fast", "slow"],
    limit: Annotated[int, Field(ge=1, description="At least one.")],
    note: str | None = None,
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "a",
) -> None: ...


def with_defaults(
    city: str,
    days: int = 3,
    unit: Unit = Unit.CELSIUS,
    marker: Any = object,  # noqa: ANN401 - a tool's parameter
    ratio: float = float("nan"),
) -> None: ...


def described(city: str, limit: Annotated[int, Field(description="From the type.")]) -> None:
    """
    Look up the weather
    of a city.

    It asks a service.

    Args:
        city: Where, as people
            call it.
        limit: From the docstring.

    Returns:
        What the sky is like.
    """


def test_plain_types_have_their_schemas_and_are_required() -> None:
    assert schema(plain_types) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "words": {"type": "array", "items": {"type": "string"}},
            "mapping": {"type": "object", "additionalProperties": {"type": "integer"}},
            "anything": {},
        },
        "required": ["text", "count", "ratio", "flag", "words", "mapping", "anything"],
        "additionalProperties": False,
    }


def test_rich_types_share_their_definitions() -> None:
    written = schema(rich_types)

    assert set(written["$defs"]) == {"Unit", "Place", "Person", "Range"}
    assert written["properties"]["unit"] == {"$ref": "#/$defs/Unit"}
    assert written["properties"]["mode"]["enum"] == ["fast", "slow"]
    assert written["properties"]["limit"] == {
        "type": "integer",
        "minimum": 1,
        "description": "At least one.",
    }
    assert written["properties"]["note"]["default"] is None
    assert "note" not in written["required"]


def test_defaults_are_shown_where_json_can_carry_them() -> None:
    properties = schema(with_defaults)["properties"]

    assert properties["days"] == {"type": "integer", "default": 3}
    assert properties["unit"]["default"] == "c"
    assert "default" not in properties["marker"]
    dump_json(properties)


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def nothing() -> None: ...

    assert schema(nothing) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_docstring_gives_the_summary_and_what_parameters_mean() -> None:
    docstring = read_docstring(cast("FunctionType", described))

    assert docstring.summary == "Look up the weather of a city."
    assert docstring.parameters == {
        "city": "Where, as people call it.",
        "limit": "From the docstring.",
    }


def test_a_description_in_the_type_wins_over_the_docstring() -> None:
    properties = schema(described)["properties"]

    assert properties["city"]["description"] == "Where, as people call it."
    assert properties["limit"]["description"] == "From the type."


def test_a_function_without_a_docstring_says_nothing() -> None:
    docstring = read_docstring(cast("FunctionType", plain_types))

    assert (docstring.summary, docstring.parameters) == ("", {})


def test_a_docstring_that_cannot_be_read_is_reported() -> None:
    def broken() -> None:
        """
        Args:
            city: Without a word before.
        """

    with pytest.raises(ConfigError, match="its docstring cannot be read"):
        read_docstring(cast("FunctionType", broken))


def test_arguments_become_what_the_types_say() -> None:
    bound = signature_of(rich_types).bind(
        {
            "unit": "f",
            "place": {"name": "Etna", "height": 3357},
            "person": {"name": "Ada"},
            "span": {"first": 1, "last": 2},
            "day": "2026-01-02",
            "mode": "fast",
            "limit": 5,
        },
        tool_context(),
    )

    assert bound == {
        "unit": Unit.FAHRENHEIT,
        "place": Place("Etna", 3357.0),
        "person": {"name": "Ada"},
        "span": Range(first=1, last=2),
        "day": date(2026, 1, 2),
        "mode": "fast",
        "limit": 5,
    }


def test_a_parameter_for_the_context_gets_it_and_is_not_shown() -> None:
    def save(path: str, ctx: ToolContext) -> None: ...

    context = tool_context()
    signature = signature_of(save)

    assert list(schema(save)["properties"]) == ["path"]
    assert signature.bind({"path": "a"}, context) == {"path": "a", "ctx": context}


@pytest.mark.parametrize(
    ("arguments", "complaints"),
    [
        pytest.param({"span": {"first": 1, "last": 2}}, (), id="none-when-they-fit"),
        pytest.param(
            {"day": "soon"},
            ("'day' must be a valid date or datetime, input is too short",),
            id="what-a-schema-cannot-say",
        ),
        pytest.param({"span": {"first": 1}}, ("'span.last' is missing",), id="where-inside-it-is"),
        pytest.param(
            {"span": {"first": 1, "last": 7}},
            ("'span': KeyError: 'seven'",),
            id="a-validator-that-breaks",
        ),
        pytest.param(
            {"span": {"first": 1, "last": 8}},
            ("'span.last': eight is too far",),
            id="a-validator-that-refuses",
        ),
        pytest.param(
            {"limit": 0}, ("'limit' must be greater than or equal to 1",), id="a-bound-of-a-type"
        ),
        pytest.param(
            {"code": "a b"},
            ("'code': string should match pattern '^[a-z]+$'",),
            id="what-begins-otherwise",
        ),
        pytest.param({"where": 1}, ("there is no parameter 'where'",), id="an-unknown-parameter"),
    ],
)
def test_arguments_that_cannot_be_converted_are_complained_about(
    arguments: dict[str, Any], complaints: tuple[str, ...]
) -> None:
    assert signature_of(rich_types).complaints(arguments) == complaints


def test_a_complaint_does_not_repeat_the_argument() -> None:
    complaints = signature_of(rich_types).complaints({"limit": "hunter2"})

    assert "hunter2" not in "".join(complaints)


def test_untyped_parameters_take_anything_when_types_are_not_needed() -> None:
    def loose(city, days=1):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - that it has no types is the point
        return city, days

    bound = signature_of(loose, typed=False).bind({"city": {"a": 1}}, tool_context())

    assert bound == {"city": {"a": 1}}


def loose_one(city):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - that it has no types is the point
    return city


def many(*cities: str) -> None: ...


def keyed(**cities: str) -> None: ...


def positional(city: str, /) -> None: ...


def accented(größe: int) -> None: ...  # noqa: PLC2401 - a name to refuse


def undefined(city: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - that it is undefined is the point


def malformed(city: "1 +") -> None: ...  # type: ignore[valid-type]  # noqa: F722 - that it is malformed is the point


def uncarried(stream: FunctionType) -> None: ...


def unschemed(convert: Callable[[int], int]) -> None: ...


def twice(first: ToolContext, second: ToolContext) -> None: ...


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        pytest.param(loose_one, "parameter 'city' has no type", id="without-a-type"),
        pytest.param(many, "parameter 'cities' cannot be given by name", id="any-number"),
        pytest.param(keyed, "parameter 'cities' cannot be given by name", id="any-names"),
        pytest.param(positional, "parameter 'city' cannot be given by name", id="by-place-only"),
        pytest.param(accented, "parameter 'größe' has a name that no model", id="a-foreign-name"),
        pytest.param(undefined, "its annotations cannot be read: name 'Nowhere'", id="unknown"),
        pytest.param(malformed, "its annotations cannot be read", id="no-expression"),
        pytest.param(uncarried, "parameter 'stream' has a type that JSON", id="no-json-type"),
        pytest.param(unschemed, "a type has no JSON Schema", id="no-schema"),
        pytest.param(twice, "more than one parameter asks for the context", id="two-contexts"),
    ],
)
def test_a_parameter_no_model_can_fill_is_reported(
    function: Callable[..., object], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        schema(function)


@pytest.mark.parametrize("function", [plain_types, rich_types, with_defaults, described])
def test_every_schema_that_is_written_can_be_used(function: Callable[..., object]) -> None:
    complaints = Validator(schema(function)).complaints({"city": 1})

    assert complaints
