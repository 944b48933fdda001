import json
from collections import UserDict, deque
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from pydantic import BaseModel
from typing_extensions import override

from runner.core.jsonvalue import dump_json
from runner.tools.plain import plain
from tests.unit.tools.values import Colour, Point, Rank, Word, anything, numbers

PLENTY = 10_000


class Pair(NamedTuple):
    a: int
    b: int


class Address(BaseModel):
    city: str
    since: date
    points: list[Point] = []


class Shouting:
    @override
    def __str__(self) -> str:
        return "HEY\x00"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(True, True, id="a-truth"),
        pytest.param("", "", id="an-empty-text"),
        pytest.param("a\x00b\ud800", "a�b�", id="text-no-database-takes"),
        pytest.param(10**400, hex(10**400), id="an-integer-too-large-for-json"),
        pytest.param(float("nan"), "nan", id="not-a-number"),
        pytest.param(float("-inf"), "-inf", id="an-infinity"),
        pytest.param(b"\xffa", "�a", id="bytes"),
        pytest.param(bytearray(b"a"), "a", id="a-byte-array"),
        pytest.param(memoryview(b"a"), "a", id="a-view-of-bytes"),
        pytest.param(Colour.RED, "red", id="an-enumeration"),
        pytest.param(Rank.FIRST, 1, id="an-enumeration-of-integers"),
        pytest.param(Word.YES, "yes", id="an-enumeration-of-texts"),
        pytest.param(date(2026, 1, 2), "2026-01-02", id="a-date"),
        pytest.param(time(3, 4), "03:04:00", id="a-time"),
        pytest.param(
            datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00", id="a-moment"
        ),
        pytest.param(Decimal("1.50"), "1.50", id="a-decimal"),
        pytest.param(UUID(int=1), "00000000-0000-0000-0000-000000000001", id="a-uuid"),
        pytest.param(PurePosixPath("a/b"), "a/b", id="a-path"),
        pytest.param((1, "a"), [1, "a"], id="a-tuple"),
        pytest.param({1}, [1], id="a-set"),
        pytest.param(deque([1]), [1], id="a-queue"),
        pytest.param(range(2), [0, 1], id="a-range"),
        pytest.param({"a": 1}.keys(), ["a"], id="keys"),
        pytest.param({"a": 1}.values(), [1], id="values"),
        pytest.param({"a": 1}.items(), [["a", 1]], id="items"),
        pytest.param(MappingProxyType({"a": 1}), {"a": 1}, id="a-read-only-mapping"),
        pytest.param(UserDict({"a": 1}), {"a": 1}, id="a-mapping-class"),
        pytest.param(Pair(1, 2), [1, 2], id="a-named-tuple"),
        pytest.param(Point(1, Colour.RED), {"x": 1, "label": "red"}, id="a-dataclass"),
        pytest.param(
            Address(city="Rome", since=date(2026, 1, 2), points=[Point(1, Colour.RED)]),
            {"city": "Rome", "since": "2026-01-02", "points": [{"x": 1, "label": "red"}]},
            id="a-model",
        ),
        pytest.param(Shouting(), "HEY�", id="any-other-object"),
        pytest.param(Point, str(Point), id="a-class"),
        pytest.param(
            {1: "a", None: "b", (1, 2): "d", Colour.RED: "e", b"f": "f", 1.5: "g"},
            {"1": "a", "null": "b", "[1,2]": "d", "red": "e", "f": "f", "1.5": "g"},
            id="keys-that-are-no-text",
        ),
    ],
)
def test_values_become_json(value: object, expected: object) -> None:
    assert plain(value, max_values=PLENTY) == expected


def test_a_model_is_shown_as_it_is_though_a_field_has_not_the_type_it_should() -> None:
    broken = Address(city="Rome", since=date(2026, 1, 2))
    vars(broken)["city"] = 3

    assert plain(broken, max_values=PLENTY) == {"city": 3, "since": "2026-01-02", "points": []}


def test_a_generator_becomes_its_text_and_is_not_drained() -> None:
    generator = numbers()

    assert "generator" in str(plain(generator, max_values=PLENTY))
    assert next(generator) == 1


def test_a_huge_integer_may_be_a_key() -> None:
    assert plain({10**5000: 1}, max_values=PLENTY) == {hex(10**5000): 1}


def test_what_is_nested_too_deeply_ends_and_says_so() -> None:
    value: object = "bottom"
    for _ in range(1_000):
        value = [value]

    text = dump_json(plain(value, max_values=PLENTY))

    assert text == "[" * 64 + '"… nested too deeply"' + "]" * 64


def test_a_list_that_contains_itself_twice_ends() -> None:
    knot = list[object]()
    knot += [knot, knot]

    text = dump_json(plain(knot, max_values=1_000))

    assert "… the rest was left out" in text
    assert len(text) < 100_000


def test_a_mapping_of_more_values_than_allowed_ends_and_says_so() -> None:
    value = plain({str(number): number for number in range(10)}, max_values=2)

    assert value == {"0": 0, "1": 1, "…": "… the rest was left out"}


def test_an_endless_range_ends_and_says_so() -> None:
    assert plain(range(10**12), max_values=2) == [0, 1, "… the rest was left out"]


def test_as_many_values_as_allowed_are_all_there() -> None:
    assert plain([1, 2], max_values=2) == [1, 2]


@given(anything)
def test_anything_becomes_json_that_reads_back_the_same(value: object) -> None:
    result = plain(value, max_values=PLENTY)

    text = dump_json(result)

    assert json.loads(text) == result
    assert "\x00" not in text
    text.encode()
