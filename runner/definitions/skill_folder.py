"""A folder with a SKILL.md, read as a skill."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.frontmatter import read_frontmatter
from runner.definitions.nodes import Mapping
from runner.definitions.paths import MAX_BYTES, Base, inside, read_file
from runner.definitions.problem import Problem, Severity
from runner.definitions.scan import shown
from runner.definitions.skill import SkillFile, SkillFolder
from runner.definitions.skill_files import MAX_FILES, files_in
from runner.definitions.skill_header import SkillHeader, read_header
from runner.definitions.source import Source


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
    reading = read_header(document, found.node, path.parent.name)
    problems = [*found.problems, *reading.problems]
    skill = None
    if reading.header and not any(problem.is_error for problem in found.problems):
        skill, more = _skill(reading.header, found.body, document)
        problems += more
    return FolderReading(
        document=document,
        skill=skill,
        name=reading.name or path.parent.name,
        problems=tuple(problems),
    )


def _skill(header: SkillHeader, body: str, document: Document) -> tuple[SkillFolder, list[Problem]]:
    folder, root = document.base.folder, document.base.root
    found = files_in(folder)
    problems = []
    if len(found) > MAX_FILES:
        left_out = len(found) - MAX_FILES
        message = f"the folder has {left_out} files more than the {MAX_FILES} that can be read"
        warning = Severity.WARNING
        problems.append(document.problem((), Code.TOO_MANY_FILES, message, severity=warning))
    skill = SkillFolder(
        name=header.name,
        description=header.description,
        content=body,
        allowed_tools=header.allowed_tools,
        license=header.license,
        compatibility=header.compatibility,
        metadata=dict(header.metadata),
        folder=folder.resolve().relative_to(root).as_posix(),
        files=tuple(_files(folder, found[:MAX_FILES], root)),
    )
    return skill, problems


def _unreadable(
    path: FilePath, root: FilePath, source: Source, problems: tuple[Problem, ...]
) -> FolderReading:
    document = _document(path, root, source, Mapping(1, 1, {}))
    return FolderReading(document=document, skill=None, name=path.parent.name, problems=problems)


def _document(path: FilePath, root: FilePath, source: Source, node: Mapping) -> Document:
    base = Base(root=root, folder=path.parent)
    return Document(source=source, node=node, file=path, base=base)


def _files(folder: FilePath, paths: tuple[str, ...], root: FilePath) -> Iterator[SkillFile]:
    for path in paths:
        try:
            data = read_file(inside(root, folder / path))
        except PathRefused:
            continue
        is_whole = len(data) <= MAX_BYTES
        yield SkillFile(
            path=path,
            sha256=hashlib.sha256(data).hexdigest() if is_whole else "",
        )
