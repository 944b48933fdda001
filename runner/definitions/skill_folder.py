"""A folder with a SKILL.md, read as a skill."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Final

from runner.core.errors import PathRefused
from runner.core.jsonvalue import canonical_json
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.frontmatter import read_frontmatter
from runner.definitions.nodes import Mapping, Node, Scalar, Sequence, plain
from runner.definitions.paths import MAX_BYTES, Base, inside, read_file
from runner.definitions.problem import Problem, Severity
from runner.definitions.scan import shown
from runner.definitions.skill import (
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    MAX_NAME,
    SKILL_NAME_PATTERN,
    SkillFile,
    SkillFolder,
)
from runner.definitions.skill_files import MAX_FILES, files_in
from runner.definitions.source import Source
from runner.definitions.variants import nearest

#: The keys of a frontmatter.
KEYS: Final = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
)
#: What separates the tools of a list that is one text; not within parentheses.
_TOOL: Final = re.compile(r"[^\s,(]+(?:\([^)]*\)?)?|\([^)]*\)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReading:
    """What became of a SKILL.md."""

    document: Document
    #: None where it cannot be used.
    skill: SkillFolder | None
    #: The name it has or was meant to have.
    name: str
    problems: tuple[Problem, ...]


def read_skill_folder(path: FilePath, root: FilePath) -> FolderReading:
    """Read the folder of a SKILL.md; whatever is wrong with it is among the problems."""
    name = shown(root, path)
    try:
        found = read_frontmatter(read_file(path), name)
    except PathRefused as refused:
        source = Source(name, "")
        problem = source.problem(Code.named(refused.code), str(refused))
        return _unreadable(path, root, source, (problem,))
    if found.node is None:
        return _unreadable(path, root, found.source, found.problems)
    document = _document(path, root, found.source, found.node)
    header = _Header(document, found.node, path.parent.name)
    skill = header.skill(found.body, path, root)
    problems = (*found.problems, *header.problems)
    is_sound = not any(problem.is_error for problem in problems)
    return FolderReading(
        document=document,
        skill=skill if is_sound else None,
        name=header.name or path.parent.name,
        problems=problems,
    )


def _unreadable(
    path: FilePath, root: FilePath, source: Source, problems: tuple[Problem, ...]
) -> FolderReading:
    document = _document(path, root, source, Mapping(1, 1, {}))
    return FolderReading(document=document, skill=None, name=path.parent.name, problems=problems)


def _document(path: FilePath, root: FilePath, source: Source, node: Mapping) -> Document:
    base = Base(root=root, folder=path.parent)
    return Document(source=source, node=node, file=path, base=base)


@dataclass(slots=True)
class _Header:
    """Reads the keys of a frontmatter, of which every single value counts as text."""

    document: Document
    node: Mapping
    folder: str
    problems: list[Problem] = field(default_factory=list)
    name: str = ""

    def skill(self, body: str, path: FilePath, root: FilePath) -> SkillFolder | None:
        """The skill, as far as it can be told; None without a name and a description."""
        for key in self.node.entries:
            if key not in KEYS:
                self._unknown(key)
        self.name = self._name()
        description = self._text("description", MAX_DESCRIPTION, is_required=True)
        self._warn_of_comment()
        license_ = self._text("license", None)
        compatibility = self._text("compatibility", MAX_COMPATIBILITY)
        metadata, allowed = self._metadata(), self._allowed_tools()
        if not self.name or not description or self.problems_are_fatal:
            return None
        files, left_out = _files(path.parent, root)
        if left_out:
            self._warn_of_files(left_out)
        return SkillFolder(
            name=self.name,
            description=description,
            content=body,
            allowed_tools=allowed,
            license=license_,
            compatibility=compatibility,
            metadata=metadata,
            folder=path.parent.resolve().relative_to(root).as_posix(),
            files=files,
        )

    @property
    def problems_are_fatal(self) -> bool:
        return any(problem.is_error for problem in self.problems)

    def _name(self) -> str:
        name = self._text("name", None, is_required=True) or ""
        if not name:
            return ""
        if len(name) > MAX_NAME or not re.fullmatch(SKILL_NAME_PATTERN, name):
            self._complain(
                ("name",),
                Code.BAD_NAME,
                f"expected a name of at most {MAX_NAME} of the characters a-z, 0-9 and -,"
                " with each - between two others",
            )
        elif name != self.folder:
            self._complain(
                ("name",),
                Code.BAD_NAME,
                f"the skill's name is not that of its folder, {self.folder[:80]!r}",
                hint="give both the same name",
            )
        return name

    def _text(self, key: str, longest: int | None, *, is_required: bool = False) -> str | None:
        entry = self.node.entries.get(key)
        if entry is None:
            if is_required:
                message = f"the key {key!r} is missing"
                self._complain((), Code.MISSING_KEY, message)
            return None
        if not isinstance(entry.value, Scalar):
            hint = "put it in quotes if it is text"
            self._complain((key,), Code.WRONG_TYPE, "expected some text", hint=hint)
            return None
        text = entry.value.text.strip()
        if not text:
            severity = Severity.ERROR if is_required else Severity.WARNING
            self._complain((key,), Code.NULL_VALUE, f"{key!r} has no value", severity=severity)
            return None
        if longest is not None and len(text) > longest:
            message = f"expected at most {longest} characters, not {len(text):,}"
            self._complain((key,), Code.BAD_VALUE, message)
        return text

    def _metadata(self) -> dict[str, str]:
        entry = self.node.entries.get("metadata")
        if entry is None:
            return {}
        if isinstance(entry.value, Mapping):
            return {key: _as_text(one.value) for key, one in entry.value.entries.items()}
        if isinstance(entry.value, Scalar) and not entry.value.text.strip():
            message = "'metadata' has no value"
            self._complain(("metadata",), Code.NULL_VALUE, message, severity=Severity.WARNING)
        else:
            self._complain(("metadata",), Code.WRONG_TYPE, "expected keys with their values")
        return {}

    def _allowed_tools(self) -> tuple[str, ...] | None:
        """The tools of `allowed-tools`, which is a list, or one text with spaces or commas."""
        entry = self.node.entries.get("allowed-tools")
        match entry.value if entry else None:
            case None:
                return None
            case Scalar(text=text):
                named = tuple(_TOOL.findall(text))
            case Sequence(items=items) if all(isinstance(item, Scalar) for item in items):
                named = tuple(
                    text
                    for item in items
                    if isinstance(item, Scalar)
                    if (text := item.text.strip())
                )
            case _:
                message = "expected the names of tools"
                self._complain(("allowed-tools",), Code.WRONG_TYPE, message)
                return None
        if not named:
            self._complain(
                ("allowed-tools",),
                Code.NULL_VALUE,
                "'allowed-tools' names no tool, so none may be called while the skill is in force",
                severity=Severity.WARNING,
            )
        return tuple(name[:200] for name in named)

    def _unknown(self, key: str) -> None:
        meant = nearest(key, KEYS)
        hint = f"did you mean {meant!r}?" if meant else "put what is your own under metadata"
        message = f"unknown key {key[:80]!r}"
        self._complain((key,), Code.UNKNOWN_KEY, message, hint=hint, at_key=True)

    def _warn_of_comment(self) -> None:
        """Tell of a text that YAML ends at a `#`, which its author hardly meant."""
        entry = self.node.entries.get("description")
        node = entry.value if entry else None
        if not isinstance(node, Scalar) or not node.text:
            return
        lines = self.document.source.lines
        first, last = lines[node.line - 1], lines[min(node.end_line, len(lines)) - 1]
        is_plain = first[node.column - 1 : node.column] not in {'"', "'", "|", ">"}
        if is_plain and re.match(r"\s+#", last[node.end_column - 1 :]):
            self._complain(
                ("description",),
                Code.UNQUOTED_TEXT,
                "what follows the '#' is a comment and not part of the text",
                hint="put the text in quotes",
                severity=Severity.WARNING,
            )

    def _warn_of_files(self, left_out: int) -> None:
        message = f"the folder has {left_out} files more than the {MAX_FILES} that can be read"
        self._complain((), Code.TOO_MANY_FILES, message, severity=Severity.WARNING)

    def _complain(
        self,
        at: tuple[str, ...],
        code: Code,
        message: str,
        *,
        hint: str = "",
        at_key: bool = False,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.problems.append(
            self.document.problem(at, code, message, hint=hint, at_key=at_key, severity=severity)
        )


def _as_text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else canonical_json(plain(node))


def _files(folder: FilePath, root: FilePath) -> tuple[tuple[SkillFile, ...], int]:
    """The files of a skill with their hashes, and how many there are more."""
    found = files_in(folder)
    return tuple(_described(folder, found[:MAX_FILES], root)), max(len(found) - MAX_FILES, 0)


def _described(folder: FilePath, paths: tuple[str, ...], root: FilePath) -> Iterator[SkillFile]:
    for path in paths:
        try:
            data = read_file(inside(root, folder / path))
        except PathRefused:
            continue
        is_whole = len(data) <= MAX_BYTES
        yield SkillFile(
            path=path,
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest() if is_whole else "",
        )
