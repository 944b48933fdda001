"""A document's nodes to a model, with every mistake told once and at its place."""

from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from runner.definitions.complaints import Complaint, complaint
from runner.definitions.filling import Filler, VariableUse
from runner.definitions.nodes import Mapping, Node, Path, Scalar, Sequence, child, scalars
from runner.definitions.problem import Problem
from runner.definitions.shape import Shape
from runner.definitions.source import MAX_PROBLEMS, Source
from runner.definitions.text import Interpolated
from runner.definitions.variants import BAD_VARIANT, is_tag, nearest
from runner.definitions.yaml_scalars import resolve

T = TypeVar("T")

_CONVERTIBLE: Final = frozenset({"int_type", "float_type", "bool_type"})
_ROUNDS: Final = 4
_TOO_MANY: Final = MAX_PROBLEMS + 1


@dataclass(frozen=True, slots=True)
class Schema(Generic[T]):
    """A model, and what it says about places before it reads them."""

    adapter: TypeAdapter[T]
    shape: Shape

    def read(self, data: object) -> tuple[T | None, list[ErrorDetails]]:
        """The model of some data, or why there is none."""
        try:
            return self.adapter.validate_python(data), []
        except ValidationError as error:
            return None, error.errors(include_url=False, include_input=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated(Generic[T]):
    """What became of a document."""

    #: The model; where there are problems, of what is right in the document, or None.
    value: T | None
    problems: tuple[Problem, ...]
    uses: tuple[VariableUse, ...]


def schema_of(model: type[T]) -> Schema[T]:
    """Prepare a model, or a union of models."""
    return Schema(TypeAdapter(model), Shape(model))


def validate(
    schema: Schema[T],
    node: Node,
    source: Source,
    environ: ReadOnly[str, str],
    *,
    given: ReadOnly[str, object] | None = None,
) -> Validated[T]:
    """
    Read a document.

    Args:
        schema: What it must be.
        node: The document.
        source: The file it stands in.
        environ: What variables hold.
        given: Values for keys that the document may leave out.
    """
    filler = Filler(source=source, environ=environ)
    data = filler.data(node, schema.shape)
    if isinstance(data, dict):
        data = {**(given or {}), **data}
    value, errors = schema.read(data)
    if value is None and _convert(data, errors):
        value, errors = schema.read(data)
    reader = _Reader(node, schema.shape, source, frozenset(filler.refused))
    problems = [*filler.problems, *reader.problems(errors)]
    rounds = _ROUNDS
    while (
        value is None
        and rounds
        and (_rename(data, reader.misspelt(errors)) or _remove(data, errors))
    ):
        value, errors = schema.read(data)
        rounds -= 1
    return Validated(value=value, problems=tuple(problems), uses=tuple(filler.uses))


def hidden(node: Node, shape: Shape) -> list[Scalar]:
    """The values of a document that are secret, or may be: those of unknown keys included."""
    match node:
        case Scalar():
            return [node] if shape.hides else []
        case Mapping() if shape.is_json:
            return []
        case Mapping():
            return [
                scalar
                for key, entry in node.entries.items()
                for scalar in _hidden_value(shape, key, entry.value)
            ]
        case Sequence():
            items = enumerate(node.items)
            return [scalar for i, item in items for scalar in hidden(item, shape.child(i))]


def _hidden_value(shape: Shape, key: str, value: Node) -> list[Scalar]:
    inner = shape.child(key)
    if inner.is_known:
        return list(scalars(value)) if inner.is_secret else hidden(value, inner)
    meant = nearest(key, shape.keys)
    if meant and not shape.child(meant).hides:
        return []
    return list(scalars(value))


def _convert(data: object, errors: list[ErrorDetails]) -> bool:
    """Read texts from variables as the numbers and switches they stand for."""
    converted = False
    for error in errors:
        if error["type"] not in _CONVERTIBLE:
            continue
        container, key = _container(data, error["loc"])
        text = container.get(key) if isinstance(container, dict) else None
        if isinstance(container, dict) and isinstance(text, Interpolated):
            try:
                container[key] = resolve(text)
            except ValueError:
                continue
            converted = True
    return converted


def _container(data: object, location: Path) -> tuple[object, str | int | None]:
    """What directly holds the place of an error, and under which key."""
    container: object = None
    key: str | int | None = None
    inside = data
    for item in location:
        match inside:
            case dict() if item in inside:
                container, key, inside = inside, item, inside[item]
            case list() if isinstance(item, int) and item < len(inside):
                container, key, inside = inside, item, inside[item]
    return container, key


def _remove(data: object, errors: list[ErrorDetails]) -> bool:
    """Take what is wrong out of the data; a list goes as a whole, so that indexes stay true."""
    removed = False
    for error in errors:
        location = error["loc"]
        container, key = _container(data, location)
        while isinstance(container, list):
            location = location[: _last_index(location)]
            container, key = _container(data, location)
        if isinstance(container, dict) and key in container:
            del container[key]
            removed = True
    return removed


def _rename(data: object, misspelt: ReadOnly[Path, str]) -> bool:
    """Move what stands under misspelt keys to the keys that were meant."""
    renamed = False
    for location, meant in misspelt.items():
        container, key = _container(data, location)
        if isinstance(container, dict) and key == location[-1] and meant not in container:
            container[meant] = container.pop(key)
            renamed = True
    return renamed


def _last_index(location: Path) -> int:
    return max(place for place, item in enumerate(location) if isinstance(item, int))


class _Reader:
    """Finds the places of a model's errors in the document."""

    def __init__(self, root: Node, shape: Shape, source: Source, refused: frozenset[Path]) -> None:
        self._root = root
        self._shape = shape
        self._source = source
        self._refused = refused

    def problems(self, errors: list[ErrorDetails]) -> list[Problem]:
        found_elsewhere = {
            (*location[:-1], meant) for location, meant in self.misspelt(errors).items()
        }
        found = (self._problem(error, found_elsewhere) for error in errors[:_TOO_MANY])
        return [problem for problem in found if problem is not None]

    def misspelt(self, errors: list[ErrorDetails]) -> dict[Path, str]:
        """The keys that were meant, by the locations of the unknown keys."""
        return {
            location: meant
            for error in errors[:_TOO_MANY]
            if error["type"] == "extra_forbidden"
            for location in [error["loc"]]
            for known in [self._places(location[:-1]).shape.keys]
            if (meant := nearest(str(location[-1]), known))
        }

    def _problem(self, error: ErrorDetails, found_elsewhere: set[Path]) -> Problem | None:
        places = self._places(error["loc"])
        if places.path in self._refused or any(
            places.path[: len(path)] == path for path in self._refused
        ):
            return None
        if error["type"].startswith(BAD_VARIANT) and any(
            path[:-1] == places.path for path in self._refused if path
        ):
            return None
        if error["type"] == "missing" and (
            error["loc"] in found_elsewhere or (*places.path, error["loc"][-1]) in self._refused
        ):
            return None
        told: Complaint = complaint(error, places.node, places.parent_keys)
        place = places.key if told.at_key and places.key else places.node
        if told.at_child is not None:
            place = child(places.node, told.at_child) or place
        return self._source.problem(
            told.code, told.message, at=(place.line, place.column), hint=told.hint
        )

    def _places(self, location: Path) -> "_Places":
        places = _Places(self._root, self._shape)
        for item in location:
            places.enter(item)
        return places


class _Places:
    """Where an error's location leads, as far as the document goes."""

    def __init__(self, root: Node, shape: Shape) -> None:
        self.node = root
        self.shape = shape
        self.key: Scalar | None = None
        self.path: Path = ()
        #: The keys that the mapping above may have.
        self.parent_keys: tuple[str, ...] = ()

    def enter(self, item: str | int) -> None:
        inner = child(self.node, item)
        if inner is None:
            if is_tag(item):
                self.shape = self.shape.child(item)
            return
        self.key = self.node.entries[str(item)].key if isinstance(self.node, Mapping) else None
        self.parent_keys = self.shape.keys
        self.node, self.shape = inner, self.shape.child(item)
        self.path = (*self.path, item)
