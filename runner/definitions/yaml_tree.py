"""YAML text to nodes that know their places; all that is refused is a problem, never an error."""

import re
from dataclasses import dataclass
from typing import Final, cast

from yaml import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    YAMLError,
)
from yaml._yaml import CParser, Mark

from runner.definitions.codes import Code
from runner.definitions.nodes import Entry, Mapping, Node, Scalar, ScalarValue, Sequence
from runner.definitions.problem import Problem
from runner.definitions.source import Source
from runner.definitions.yaml_scalars import TEXT_TAGS, resolve

MAX_BYTES: Final = 1_000_000
MAX_NODES: Final = 100_000
MAX_DEPTH: Final = 60

_FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_TAB_INDENT: Final = re.compile(r" *\t")
#: A line up to its first colon, at which YAML stumbles when the line above is complete.
_LONE_KEY: Final = re.compile(r" +[\w-]+:$")
_COLLECTION_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_SCALAR_TAGS: Final = {
    "tag:yaml.org,2002:null": type(None),
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
}
_HINTS: Final = {
    "mapping values are not allowed": "put a text that holds ': ' in quotes",
    "cannot start any token": "put a text that starts with this character in quotes",
    "block end": "check the indentation of this line and those above it",
    "expected key": "check the indentation of this line and those above it",
    "expected ':'": "a key is followed by ': '; a text of several lines is indented",
    "end of stream": "a quote or bracket is not closed",
    "expected ',' or": "a bracket is not closed, or a comma is missing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file's documents, empty ones left out, and what is wrong with its text."""

    source: Source
    documents: tuple[Node, ...]
    problems: tuple[Problem, ...]
    #: Whether the whole file was read; if not, there are no documents.
    complete: bool = True


def parse(data: bytes, path: str) -> Parsed:
    """Read a file's bytes; `path` is the one that problems name."""
    if len(data) > MAX_BYTES:
        message = "the file is larger than 1 MB"
        return _refuse(Source(path, ""), (1, 1), Code.FILE_TOO_LARGE, message)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = Source(path, data[: error.start].decode("utf-8-sig"))
        return _refuse(before, _end_of(before), Code.NOT_TEXT, "the file is not UTF-8")
    source = Source(path, text)
    if forbidden := _FORBIDDEN.search(text):
        character = "NUL" if forbidden[0] == "\0" else f"U+{ord(forbidden[0]):04X}"
        place = _end_of(Source(path, text[: forbidden.start()]))
        message = f"the character {character} is not allowed"
        return _refuse(source, place, Code.NOT_TEXT, message)
    return _read(source, text)


def _read(source: Source, text: str) -> Parsed:
    reader = _Reader(source, text)
    try:
        documents = reader.documents()
    except _Refused as refused:
        return _refuse(source, refused.at, refused.code, refused.message)
    except YAMLError as error:
        return _syntax(source, error)
    return Parsed(source=source, documents=documents, problems=tuple(reader.problems))


def _refuse(
    source: Source, at: tuple[int, int], code: Code, message: str, hint: str = ""
) -> Parsed:
    problem = source.problem(code, message, at=at, hint=hint)
    return Parsed(source=source, documents=(), problems=(problem,), complete=False)


def _syntax(source: Source, error: YAMLError) -> Parsed:
    reason = str(getattr(error, "problem", None) or "cannot be read")
    # What is not closed is where it began, and what lacks its colon is the line that has none.
    began = any(words in reason for words in ("end of stream", "expected ':'"))
    mark = (began and getattr(error, "context_mark", None)) or getattr(error, "problem_mark", None)
    at = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    place = source.location(*at)
    if _TAB_INDENT.match(source.lines[place.line - 1]):
        message = "the line is indented with a tab"
        return _refuse(source, at, Code.TAB_INDENTATION, message, "indent with spaces")
    hint = next((hint for words, hint in _HINTS.items() if words in reason), "")
    if _LONE_KEY.match(source.lines[place.line - 1][: place.column]):
        hint = "start the line in the same column as the keys beside it"
    return _refuse(source, at, Code.INVALID_SYNTAX, f"invalid YAML: {reason}", hint)


def _end_of(source: Source) -> tuple[int, int]:
    return len(source.lines), len(source.lines[-1]) + 1


class _Refused(Exception):
    """The file cannot be read further."""

    def __init__(self, event: Event, code: Code, message: str) -> None:
        super().__init__(message)
        self.at = _place(event)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class _Anchor:
    node: Node
    size: int
    height: int


class _Reader:
    """Turns libyaml's events into nodes."""

    def __init__(self, source: Source, text: str) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._parser = CParser(text.encode())
        self._anchors: dict[str, _Anchor | None] = {}
        self._size = 0

    def documents(self) -> tuple[Node, ...]:
        found = []
        while (event := self._parser.get_event()) is not None:
            if isinstance(event, DocumentStartEvent):
                self._anchors.clear()
                found.append(self._node(self._next(), 1))
        return tuple(node for node in found if not (isinstance(node, Scalar) and node.text == ""))

    def _next(self) -> Event:
        return cast("Event", self._parser.get_event())  # libyaml closes whatever it has opened

    def _node(self, event: Event, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            return self._alias(event, depth)
        self._grow(event, 1)
        if depth > MAX_DEPTH:
            raise _Refused(event, Code.TOO_DEEP, f"nested more than {MAX_DEPTH} levels deep")
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = None
        before = self._size
        node = self._content(event, depth)
        if anchor is not None:
            size = self._size - before + 1
            self._anchors[anchor] = _Anchor(node, size, _height(node))
        return node

    def _content(self, event: Event, depth: int) -> Node:
        match event:
            case ScalarEvent():
                return self._scalar(event)
            case SequenceStartEvent():
                self._check_tag(event)
                return self._sequence(event, depth)
            case MappingStartEvent():
                self._check_tag(event)
                return self._mapping(event, depth)
            case _:
                raise TypeError(type(event))

    def _alias(self, event: AliasEvent, depth: int) -> Node:
        name = event.anchor
        if name not in self._anchors:
            raise _Refused(event, Code.UNKNOWN_ALIAS, f"nothing above is named &{name}")
        anchor = self._anchors[name]
        if anchor is None:
            raise _Refused(event, Code.RECURSIVE_ALIAS, f"*{name} stands inside &{name} itself")
        self._grow(event, anchor.size)
        if depth + anchor.height > MAX_DEPTH + 1:
            raise _Refused(event, Code.TOO_DEEP, f"nested more than {MAX_DEPTH} levels deep")
        return anchor.node

    def _grow(self, event: Event, count: int) -> None:
        self._size += count
        if self._size > MAX_NODES:
            message = f"more than {MAX_NODES} values, with aliases written out"
            raise _Refused(event, Code.TOO_MANY_VALUES, message)

    def _scalar(self, event: ScalarEvent) -> Scalar:
        start, end = cast("Mark", event.start_mark), cast("Mark", event.end_mark)
        value: ScalarValue = event.value
        if event.tag is not None:
            value = self._tagged(event)
        elif event.implicit[0]:
            value = self._resolve(event)
        return Scalar(
            start.line + 1, start.column + 1, end.line + 1, end.column + 1, event.value, value
        )

    def _resolve(self, event: ScalarEvent) -> ScalarValue:
        try:
            return resolve(event.value)
        except ValueError as error:
            self._complain(event, Code.BAD_NUMBER, str(error))
            return 0

    def _tagged(self, event: ScalarEvent) -> ScalarValue:
        if event.tag in TEXT_TAGS:
            return event.value
        wanted = _SCALAR_TAGS.get(event.tag or "")
        if wanted is None:
            self._unknown_tag(event)
            return event.value
        value = self._resolve(event)
        if type(value) is not wanted:
            self._complain(event, Code.WRONG_TYPE, "the value is not what its tag says")
        return value

    def _check_tag(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if event.tag not in _COLLECTION_TAGS:
            self._unknown_tag(event)

    def _unknown_tag(self, event: Event) -> None:
        hint = "put a text that begins with ! in quotes" if isinstance(event, ScalarEvent) else ""
        self._complain(event, Code.UNKNOWN_TAG, "only the tags of YAML's core are known", hint=hint)

    def _sequence(self, event: SequenceStartEvent, depth: int) -> Sequence:
        items = []
        while not isinstance(inner := self._next(), SequenceEndEvent):
            items.append(self._node(inner, depth + 1))
        return Sequence(*_place(event), tuple(items))

    def _mapping(self, event: MappingStartEvent, depth: int) -> Mapping:
        entries: dict[str, Entry] = {}
        while not isinstance(inner := self._next(), MappingEndEvent):
            key = self._node(inner, depth + 1)
            value = self._node(self._next(), depth + 1)
            if not isinstance(key, Scalar):
                self._complain(inner, Code.COMPLEX_KEY, "a key must be a plain text")
            elif (first := entries.get(key.text)) is not None:
                self._duplicate(inner, first.key)
            else:
                entries[key.text] = Entry(key, value)
        return Mapping(*_place(event), entries)

    def _duplicate(self, event: Event, first: Scalar) -> None:
        place = self._source.location(first.line, first.column)
        self.problems.append(
            self._source.problem(
                Code.DUPLICATE_KEY,
                f"the key {first.text[:80]!r} is given twice, first on line {place.line}",
                at=_place(event),
                related=(place,),
            )
        )

    def _complain(self, event: Event, code: Code, message: str, *, hint: str = "") -> None:
        self.problems.append(self._source.problem(code, message, at=_place(event), hint=hint))


def _place(event: Event) -> tuple[int, int]:
    mark = cast("Mark", event.start_mark)
    return mark.line + 1, mark.column + 1


def _height(node: Node) -> int:
    match node:
        case Scalar():
            return 1
        case Sequence():
            return 1 + max(map(_height, node.items), default=0)
        case Mapping():
            values = (_height(entry.value) for entry in node.entries.values())
            return 1 + max(values, default=0)
