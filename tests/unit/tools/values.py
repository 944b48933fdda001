"""Values of every sort that a tool may return."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum

from hypothesis import strategies as st


class Colour(Enum):
    RED = "red"


class Rank(IntEnum):
    FIRST = 1


class Word(StrEnum):
    YES = "yes"


@dataclass
class Point:
    x: int
    label: Colour


def numbers() -> Iterator[int]:
    yield 1


def nested(depth: int) -> object:
    value: object = "bottom"
    for _ in range(depth):
        value = {"in": value}
    return value


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=[]))
    | st.binary()
    | st.datetimes()
    | st.decimals(allow_nan=False)
    | st.complex_numbers()
    | st.uuids()
    | st.sampled_from([Colour.RED, Rank.FIRST, Word.YES, Point, object(), numbers()])
)
anything = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers())
        | st.dictionaries(leaves, inner)
        | st.builds(Point, x=inner, label=inner)
    ),
)
