"""What a YAML document consists of, with the place of every key and value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

#: The keys and indexes that lead from a document's root to a place in it.
Path: TypeAlias = tuple[str | int, ...]

ScalarValue: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value; lines and columns count from one, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    #: As written, without quotes.
    text: str
    #: What it means.
    value: ScalarValue


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    line: int
    column: int
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Scalar
    value: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries by the text of their keys."""

    line: int
    column: int
    entries: dict[str, Entry]


Node: TypeAlias = Scalar | Sequence | Mapping


def child(node: Node, item: str | int) -> Node | None:
    """What is at one key or index, or None."""
    match node:
        case Mapping() if (entry := node.entries.get(str(item))) is not None:
            return entry.value
        case Sequence() if isinstance(item, int) and item < len(node.items):
            return node.items[item]
    return None


def plain(node: Node) -> object:
    """The node's values without their places."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {key: plain(entry.value) for key, entry in node.entries.items()}


def scalars(node: Node) -> Iterator[Scalar]:
    """Every value in a node."""
    match node:
        case Scalar():
            yield node
        case Sequence():
            for item in node.items:
                yield from scalars(item)
        case Mapping():
            for entry in node.entries.values():
                yield from scalars(entry.value)
