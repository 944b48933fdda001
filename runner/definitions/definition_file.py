"""One file beneath the agents folder: its documents, each read as the kind it says it is."""

import re
from collections.abc import Iterable
from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as FilePath
from typing import Final

from runner.core.errors import PathRefused
from runner.definitions import skill_kind
from runner.definitions.codes import Code
from runner.definitions.document import Document, without_extensions
from runner.definitions.kinds import DEFAULT, KINDS, Reading, nothing_to_check
from runner.definitions.nodes import Mapping, Node, Scalar
from runner.definitions.paths import Base, read_file
from runner.definitions.problem import Location, Problem
from runner.definitions.scan import shown
from runner.definitions.shape import Shape
from runner.definitions.skill_files import is_skill_file
from runner.definitions.skill_folder import read_skill_folder
from runner.definitions.source import Source
from runner.definitions.validation import hidden
from runner.definitions.variants import nearest
from runner.definitions.yaml_tree import parse

_NAME: Final = re.compile(rb"^(?:- )?name:[ \t]*[\"']?([A-Za-z0-9_-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A document that was read, before its references are checked."""

    kind: str
    #: The name it has or was meant to have.
    name: str
    document: Document
    reading: Reading

    @property
    def location(self) -> Location:
        """Where its name stands, or where it starts."""
        path = ("name",) if "name" in self.document.keys else ()
        place = self.document.value(path)
        return self.document.source.location(place.line, place.column)


@dataclass(slots=True, kw_only=True)
class DefinitionFile:
    """What was found in one file."""

    path: FilePath
    source: Source
    drafts: list[Draft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Names that it may define but that could not be read.
    lost_names: frozenset[str] = frozenset()
    _documents: list[tuple[Node, Shape]] = field(default_factory=list)

    def show(self, more: Iterable[Problem]) -> list[Problem]:
        """All problems with their source lines."""
        own = [*self.problems, *(p for draft in self.drafts for p in draft.reading.problems), *more]
        if not own:
            return []
        secrets = [each for node, shape in self._documents for each in hidden(node, shape)]
        return [
            *self.source.show((p for p in own if not p.source_line), secrets),
            *(problem for problem in own if problem.source_line),
        ]

    def add(self, node: Node, base: Base, environ: ReadOnly[str, str], *, is_only: bool) -> None:
        """Read one document."""
        if not isinstance(node, Mapping):
            self._complain(node, Code.WRONG_TYPE, "a definition is a mapping")
            return
        node = without_extensions(node)
        kind = self._kind(node)
        if kind is None:
            self.lost_names |= {_name_in(node, self.path)}
            return
        document = Document(source=self.source, node=node, file=self.path, base=base)
        given = {"name": self.path.stem} if is_only else {}
        reading = KINDS[kind].read(document, environ, given)
        name = reading.definition.name if reading.definition else _name_in(node, self.path)
        self.drafts.append(Draft(kind=kind, name=name, document=document, reading=reading))
        self._documents.append((node, KINDS[kind].shape))

    def _kind(self, node: Mapping) -> str | None:
        key = "kind" if "kind" in node.entries else nearest("kind", node.entries)
        entry = node.entries.get(key) if key else None
        if entry is not None:
            return self._named_kind(entry.value, is_exact=key == "kind")
        for name, kind in KINDS.items():
            mark = next((mark for mark in kind.marks if mark in node.entries), None)
            if mark is not None and entry is None:
                message = f"the key 'kind' is missing: with {mark!r} this is a {name}"
                self._complain(node, Code.MISSING_KEY, message, f"add 'kind: {name}'")
                return name
        return DEFAULT

    def _named_kind(self, value: Node, *, is_exact: bool) -> str | None:
        text = value.text if isinstance(value, Scalar) else "?"
        if text in KINDS:
            return text
        if not is_exact or not text:
            return DEFAULT
        meant = nearest(text, KINDS)
        hint = f"did you mean {meant!r}?" if meant else f"known kinds: {', '.join(KINDS)}"
        self._complain(value, Code.UNKNOWN_KIND, "there is no such kind of definition", hint)
        return None

    def _complain(self, node: Node, code: Code, message: str, hint: str = "") -> None:
        at = (node.line, node.column)
        self.problems.append(self.source.problem(code, message, at=at, hint=hint))


def read_definitions(path: FilePath, root: FilePath, environ: ReadOnly[str, str]) -> DefinitionFile:
    """Read a file; whatever is wrong with it is among its problems."""
    if is_skill_file(path):
        return _read_skill(path, root)
    name = shown(root, path)
    try:
        data = read_file(path)
    except PathRefused as refused:
        source = Source(name, "")
        problem = source.problem(Code.named(refused.code), str(refused))
        return DefinitionFile(
            path=path, source=source, problems=[problem], lost_names=frozenset({path.stem})
        )
    parsed = parse(data, name)
    file = DefinitionFile(path=path, source=parsed.source, problems=list(parsed.problems))
    if not parsed.complete:
        names = {match.decode() for match in _NAME.findall(data)}
        file.lost_names = frozenset({path.stem, *names})
    elif not parsed.documents:
        file.problems.append(parsed.source.problem(Code.EMPTY_FILE, "the file defines nothing"))
    base = Base(root=root, folder=path.parent)
    for node in parsed.documents:
        file.add(node, base, environ, is_only=len(parsed.documents) == 1)
    return file


def _read_skill(path: FilePath, root: FilePath) -> DefinitionFile:
    found = read_skill_folder(path, root)
    skill, document = found.skill, found.document
    reading = Reading(
        definition=skill,
        problems=list(found.problems),
        uses=(),
        check=partial(skill_kind.check, skill, document) if skill else nothing_to_check,
    )
    draft = Draft(kind="skill", name=found.name, document=document, reading=reading)
    lost = frozenset() if skill else frozenset({found.name, path.parent.name})
    return DefinitionFile(path=path, source=document.source, drafts=[draft], lost_names=lost)


def _name_in(node: Mapping, path: FilePath) -> str:
    entry = node.entries.get("name")
    if entry is None or not isinstance(entry.value, Scalar):
        return path.stem
    return entry.value.text
