"""A document's nodes to the plain data that a model reads, with variables put in."""

from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass, field

from runner.definitions.codes import Code
from runner.definitions.interpolation import Variable, fill
from runner.definitions.nodes import Mapping, Node, Path, Scalar, Sequence, plain
from runner.definitions.problem import Problem
from runner.definitions.shape import Shape
from runner.definitions.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableUse:
    """A variable that a file mentions, and where."""

    path: str
    line: int
    variable: Variable


@dataclass(slots=True, kw_only=True)
class Filler:
    """Turns nodes into data, and remembers what was wrong and which variables were met."""

    source: Source
    environ: ReadOnly[str, str]
    problems: list[Problem] = field(default_factory=list)
    #: The places whose values were left out because a problem was already told.
    refused: set[Path] = field(default_factory=set)
    uses: list[VariableUse] = field(default_factory=list)

    def data(self, node: Node, shape: Shape, path: Path = ()) -> object:
        """What the node holds; keys without a value are told and left out."""
        match node:
            case Scalar(value=str()) if not shape.is_prose:
                return self._text(node, path)
            case Scalar():
                return node.value
            case Sequence():
                return self._items(node, shape, path)
            case Mapping() if shape.is_json:
                return plain(node)
            case Mapping():
                return self._entries(node, shape, path)

    def _entries(self, node: Mapping, shape: Shape, path: Path) -> dict[str, object]:
        filled = {}
        for key, entry in node.entries.items():
            inner = (*path, key)
            if _is_null(entry.value):
                hint = "give it a value, or leave the key out"
                self._refuse_null(entry.key, f"{key[:80]!r} has no value", hint, inner)
            else:
                filled[key] = self.data(entry.value, shape.child(key), inner)
        return filled

    def _items(self, node: Sequence, shape: Shape, path: Path) -> list[object]:
        for index, item in enumerate(node.items):
            if isinstance(item, Scalar) and item.value is None:
                self._refuse_null(item, "an item of the list has no value", "", (*path, index))
        return [
            self.data(item, shape.child(index), (*path, index))
            for index, item in enumerate(node.items)
        ]

    def _refuse_null(self, at: Scalar, message: str, hint: str, path: Path) -> None:
        place = (at.line, at.column)
        self.problems.append(self.source.problem(Code.NULL_VALUE, message, at=place, hint=hint))
        self.refused.add(path)

    def _text(self, node: Scalar, path: Path) -> str:
        filled = fill(node.text, self.environ)
        for variable in filled.variables:
            self.uses.append(VariableUse(path=self.source.path, line=node.line, variable=variable))
        for flaw in filled.flaws:
            place = (node.line, node.column)
            self.refused.add(path)
            self.problems.append(
                self.source.problem(flaw.code, flaw.message, at=place, hint=flaw.hint)
            )
        return filled.text


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None
