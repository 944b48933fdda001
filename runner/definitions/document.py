"""One YAML document, and problems at places in it."""

from dataclasses import dataclass
from pathlib import Path as FilePath

from runner.definitions.codes import Code
from runner.definitions.nodes import Mapping, Node, Path, Scalar, child, plain
from runner.definitions.paths import Base
from runner.definitions.problem import Problem, Severity
from runner.definitions.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with the file it stands in."""

    source: Source
    node: Node
    #: The file, as it was found.
    file: FilePath
    base: Base

    @property
    def keys(self) -> frozenset[str]:
        """The document's own keys."""
        return frozenset(self.node.entries) if isinstance(self.node, Mapping) else frozenset()

    def problem(  # a problem has that many sides
        self,
        path: Path,
        code: Code,
        message: str,
        *,
        hint: str = "",
        at_key: bool = False,
        severity: Severity = Severity.ERROR,
    ) -> Problem:
        """Make a problem at the value, or at the key, to which keys and indexes lead."""
        place = self._key(path) if at_key else self.value(path)
        return self.source.problem(
            code, message, at=(place.line, place.column), hint=hint, severity=severity
        )

    def value(self, path: Path) -> Node:
        """What is at a path, as far as the document goes."""
        node = self.node
        for item in path:
            inner = child(node, item)
            if inner is None:
                break
            node = inner
        return node

    def has(self, path: Path) -> bool:
        """Whether there is anything at a path."""
        node: Node | None = self.node
        for item in path:
            node = child(node, item) if node else None
        return node is not None

    def plain(self, path: Path) -> object:
        """What is at a path, without places."""
        return plain(self.value(path))

    def _key(self, path: Path) -> Node | Scalar:
        parent = self.value(path[:-1])
        key = str(path[-1])
        entry = parent.entries.get(key) if isinstance(parent, Mapping) else None
        return entry.key if entry else parent


def without_extensions(node: Mapping) -> Mapping:
    """Leave out the top-level `x-…` keys, which are a home for anchors."""
    kept = {key: entry for key, entry in node.entries.items() if not key.startswith("x-")}
    return Mapping(node.line, node.column, kept)
