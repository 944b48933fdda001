import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from runner.core.jsonvalue import canonical_json, dump_json, storable, storable_text

any_character = st.characters(codec=None, exclude_categories=[])


class Shouting:
    @override
    def __repr__(self) -> str:
        return "HEY\x00"


class Words(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("plain ünïcode 🙂", "plain ünïcode 🙂", id="ordinary-text"),
        pytest.param("", "", id="nothing"),
        pytest.param("a\x00b", "a�b", id="a-nul"),
        pytest.param("\ud800 \udfff", "� �", id="lone-surrogates"),
        pytest.param("\x01\n\t\x7f", "\x01\n\t\x7f", id="other-control-characters"),
    ],
)
def test_text_no_database_takes_is_replaced(text: str, stored: str) -> None:
    assert storable_text(text) == stored


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(True, True, id="a-truth"),
        pytest.param(0, 0, id="zero"),
        pytest.param(2**63 - 1, 2**63 - 1, id="the-largest-integer"),
        pytest.param(2**63, "0x8000000000000000", id="one-more"),
        pytest.param(-(2**63), "-0x8000000000000000", id="far-below-zero"),
        pytest.param(10**5000, hex(10**5000), id="more-digits-than-decimal-allows"),
        pytest.param(1.5, 1.5, id="a-fraction"),
        pytest.param(float("nan"), "nan", id="not-a-number"),
        pytest.param(float("inf"), "inf", id="infinity"),
        pytest.param(float("-inf"), "-inf", id="infinity-below"),
        pytest.param("a\x00", "a�", id="text"),
        pytest.param(b"a\xff", "a�", id="bytes"),
        pytest.param(bytearray(b"a\x00"), "a�", id="a-byte-array"),
        pytest.param((1, "a"), [1, "a"], id="a-tuple"),
        pytest.param({1}, [1], id="a-set"),
        pytest.param(frozenset({1}), [1], id="a-frozen-set"),
        pytest.param({1: {"b\x00": float("nan")}}, {"1": {"b�": "nan"}}, id="a-mapping"),
        pytest.param(MappingProxyType({"a": (1,)}), {"a": [1]}, id="a-read-only-mapping"),
        pytest.param(Shouting(), "HEY�", id="any-other-object"),
    ],
)
def test_values_become_what_every_database_stores_alike(value: object, stored: object) -> None:
    result = storable(value)

    assert result == stored
    assert type(result) is type(stored)


def test_a_kind_of_text_becomes_text() -> None:
    assert type(storable(Words("a"))) is str


def test_what_is_nested_too_deeply_ends_and_says_so() -> None:
    value: object = "bottom"
    for _ in range(1_000):
        value = {"in": [value]}

    text = dump_json(storable(value))

    assert text.count("[") + text.count("{") == 64
    assert "… nested too deeply" in text


def test_what_is_just_not_too_deep_is_kept() -> None:
    value: object = "bottom"
    for _ in range(64):
        value = [value]

    assert dump_json(storable(value)) == "[" * 64 + '"bottom"' + "]" * 64


def test_json_is_compact_readable_and_in_the_order_it_was_given() -> None:
    assert dump_json({"b": [1, 2], "a": "ü"}) == '{"b":[1,2],"a":"ü"}'


def test_canonical_json_is_the_same_for_equal_values() -> None:
    assert canonical_json({"b": 1, "a": {"d": 2, "c": "ü"}}) == '{"a":{"c":"ü","d":2},"b":1}'


@pytest.mark.parametrize("write", [dump_json, canonical_json])
def test_json_never_holds_what_is_no_number(write: object) -> None:
    assert callable(write)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write(float("nan"))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(any_character) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(any_character) | st.integers(), inner),
)


@given(anything)
def test_whatever_is_storable_reads_back_the_same_and_stays_so(value: object) -> None:
    stored = storable(value)

    text = dump_json(stored)

    assert json.loads(text) == stored
    assert storable(stored) == stored
    assert "\x00" not in text
    text.encode()
