"""What a model says about each place of the document it reads, before it reads it."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from runner.definitions.scalars import ProseMark
from runner.definitions.secret import Secret
from runner.definitions.variants import is_tag


class Shape:
    """One place: the types it may hold, with what they are marked as."""

    def __init__(self, *annotations: object) -> None:
        self._types: tuple[tuple[object, tuple[object, ...]], ...] = tuple(
            found for annotation in annotations for found in _members(annotation, ())
        )
        self._children: dict[str | int, Shape] = {}

    @cached_property
    def is_prose(self) -> bool:
        """Whether a text here is for a reader."""
        return any(kind is str and _is_prose(marks) for kind, marks in self._types)

    @cached_property
    def is_json(self) -> bool:
        """Whether a mapping here is JSON, taken as it stands."""
        return any(get_origin(kind) is dict and _is_prose(marks) for kind, marks in self._types)

    @property
    def is_known(self) -> bool:
        """Whether the model has this place at all."""
        return bool(self._types)

    @cached_property
    def is_secret(self) -> bool:
        """Whether a value here is secret."""
        return any(_is_secret(kind) for kind, _ in self._types)

    @cached_property
    def hides(self) -> bool:
        """Whether a value here is secret, or stands where secrets may be."""
        return _has_secret((kind for kind, _ in self._types), set())

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys that a mapping here may have, where they are fixed."""
        fields = (key for kind, _ in self._types for key in _fields(kind))
        return tuple(dict.fromkeys(fields))

    def child(self, item: str | int) -> "Shape":
        """The shape at a key or an index, or of the variant with this tag."""
        if item not in self._children:
            self._children[item] = self._child(item)
        return self._children[item]

    def _child(self, item: str | int) -> "Shape":
        if is_tag(item):
            chosen = Shape()
            chosen._types = tuple(  # its own class
                (kind, marks)
                for kind, marks in self._types
                if any(isinstance(mark, Tag) and mark.tag == item for mark in marks)
            )
            if chosen._types:
                return chosen
        return Shape(*(found for kind, _ in self._types for found in _at(kind, item)))


def _members(
    annotation: object, marks: tuple[object, ...]
) -> list[tuple[object, tuple[object, ...]]]:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *added = get_args(annotation)
        return _members(inner, (*marks, *added))
    if origin in {Union, UnionType}:
        return [
            found
            for member in get_args(annotation)
            if member is not NoneType
            for found in _members(member, marks)
        ]
    return [(annotation, marks)]


def _is_prose(marks: tuple[object, ...]) -> bool:
    return any(isinstance(mark, ProseMark) for mark in marks)


def _is_secret(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Secret)


def _has_secret(annotations: Iterable[object], passed: set[object]) -> bool:
    """Look into each type once, because a model may hold itself."""
    kinds = {kind for annotation in annotations for kind, _ in _members(annotation, ())} - passed
    passed |= kinds
    return any(_is_secret(kind) or _has_secret(_inner_types(kind), passed) for kind in kinds)


def _fields(kind: object) -> Mapping[str, object]:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return {}
    return {
        name: Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        for name, field in kind.model_fields.items()
    }


def _at(kind: object, item: str | int) -> list[object]:
    """What a type holds at a key or index."""
    match get_origin(kind), get_args(kind):
        case origin, (first, *_) if origin is tuple and isinstance(item, int):
            return [first]
        case origin, (_, value) if origin is dict:
            return [value]
    fields = _fields(kind)
    return [fields[str(item)]] if item in fields else []


def _inner_types(kind: object) -> list[object]:
    if get_origin(kind) in {tuple, dict}:
        return [argument for argument in get_args(kind)[-2:] if argument is not Ellipsis]
    return list(_fields(kind).values())
