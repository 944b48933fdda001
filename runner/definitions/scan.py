"""The definition files beneath a folder, and whether any of them has changed."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.paths import inside
from runner.definitions.problem import Problem
from runner.definitions.skill_files import MAX_FILES, files_in, misnamed, skill_file

_SUFFIXES: Final = frozenset({".yaml", ".yml"})


@dataclass(slots=True, kw_only=True)
class Scan:
    """What was found, in the order of names."""

    root: Path
    files: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: The files of skills that are no definitions themselves.
    beside: list[Path] = field(default_factory=list)
    _top: Path | None = None
    _seen: set[Path] = field(default_factory=set)

    def folder(self, folder: Path) -> None:
        """Look through a folder and those in it, once each, whatever leads there."""
        real = folder.resolve()
        if real in self._seen:
            return
        self._seen.add(real)
        self._top = self._top or real
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._refuse(folder, Code.UNREADABLE_FILE, "the folder cannot be read")
            return
        names = [entry.name for entry in entries]
        skill, other = skill_file(names), misnamed(names)
        if other is not None and skill is None:
            message = "a skill's file is called SKILL.md, in capitals"
            self._refuse(folder / other, Code.BAD_FRONTMATTER, message)
        if skill is not None and self._skill(folder / skill, is_top=real == self._top):
            return
        for entry in entries:
            if not entry.name.startswith(("_", ".")):
                self._entry(entry)

    def _skill(self, path: Path, *, is_top: bool) -> bool:
        """Take a folder as a skill; say whether it is one, whose other files define nothing."""
        if is_top:
            message = "a skill is a folder of its own below the agents folder"
            self._refuse(path, Code.BAD_FRONTMATTER, message)
            return False
        try:
            inside(self.root, path)
        except PathRefused as refused:
            self._refuse(path, Code.named(refused.code), str(refused))
            return True
        self.files.append(path)
        self.beside += [path.parent / name for name in files_in(path.parent)[:MAX_FILES]]
        return True

    def _entry(self, entry: os.DirEntry[str]) -> None:
        path = Path(entry.path)
        is_file = path.suffix in _SUFFIXES
        try:
            if entry.is_symlink() and (is_file or entry.is_dir()):
                inside(self.root, path)
            if entry.is_dir():
                self.folder(path)
            elif is_file:
                self.files.append(path)
        except PathRefused as refused:
            self._refuse(path, Code.named(refused.code), str(refused))

    def _refuse(self, path: Path, code: Code, message: str) -> None:
        self.problems.append(
            Problem(path=shown(self.root, path), line=1, column=1, code=code, message=message)
        )


def scan(root: Path, folder: Path) -> Scan:
    """Find the definition files of a project; names that start with `_` or `.` are left out."""
    found = Scan(root=root)
    with suppress(PathRefused):
        folder = inside(root, folder)
        if folder.is_dir():
            found.folder(folder)
    return found


def shown(root: Path, path: Path) -> str:
    """A path as problems name it."""
    relative = path.relative_to(root) if path.is_relative_to(root) else path
    return os.fsencode(relative.as_posix()).decode("utf-8", "replace")


def digest_of(stats: Iterable[bytes]) -> str:
    """One text for what is known of some files, in whatever order."""
    return hashlib.sha256(b"".join(sorted(stats))).hexdigest()


def stats_of(files: Iterable[Path]) -> list[bytes]:
    """What tells whether a file has changed, without reading it."""
    return [os.fsencode(path) + _stat(path).encode() for path in files]


def _stat(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "\0-\n"
    return f"\0{found.st_mtime_ns} {found.st_size} {found.st_ino}\n"
