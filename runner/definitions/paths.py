"""The one rule for every path that a file names, and the reading of what is there."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from runner.core.errors import PathRefused
from runner.definitions.codes import Code

#: The largest file that is read.
MAX_BYTES: Final = 1_000_000

_START: Final = "paths start from the folder of the file that names them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """Where a file's paths start from, and the project they must stay in."""

    root: Path
    folder: Path

    def resolve(self, text: str) -> Path:
        """
        Follow a path with all its symlinks.

        Raises:
            PathRefused: It is absolute or ends outside the project.
        """
        if PurePosixPath(text).is_absolute() or PureWindowsPath(text).drive:
            raise PathRefused(Code.PATH_OUTSIDE, "the path is absolute; start from this file")
        return inside(self.root, self.folder / text)

    def relative(self, text: str) -> str:
        """
        Rewrite a path as relative to the project.

        Raises:
            PathRefused: As `resolve` does.
        """
        return self.resolve(text).relative_to(self.root).as_posix()

    def folder_at(self, text: str) -> str:
        """
        Rewrite the path of a folder as relative to the project.

        Raises:
            PathRefused: As `resolve` does, or there is no such folder.
        """
        path = self.resolve(text)
        if not path.is_dir():
            raise PathRefused(Code.MISSING_FILE, f"there is no such folder; {_START}")
        return path.relative_to(self.root).as_posix()


def inside(root: Path, path: Path) -> Path:
    """
    Follow a path that must end below the root, which has no symlinks itself.

    Raises:
        PathRefused: It ends elsewhere, or cannot be followed.
    """
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise PathRefused(Code.UNREADABLE_FILE, "the path cannot be followed") from error
    if not real.is_relative_to(root):
        raise PathRefused(Code.PATH_OUTSIDE, "the path leads outside the project")
    return real


def read_file(path: Path) -> bytes:
    """
    Read a file, and one byte more than is allowed of one that is too large.

    Raises:
        PathRefused: There is none, it is not a regular file, or it may not be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise PathRefused(Code.UNREADABLE_FILE, "not a regular file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise PathRefused(Code.MISSING_FILE, f"there is no such file; {_START}") from error
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise PathRefused(
            Code.UNREADABLE_FILE, f"the file cannot be read: {reason.lower()}"
        ) from error


def read_text(path: Path) -> str:
    """
    Read a text file.

    Raises:
        PathRefused: As `read_file` does, or it is too large or not UTF-8.
    """
    data = read_file(path)
    if len(data) > MAX_BYTES:
        raise PathRefused(Code.FILE_TOO_LARGE, "the file is larger than 1 MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PathRefused(Code.NOT_TEXT, "the file is not UTF-8") from error
    if "\0" in text:
        raise PathRefused(Code.NOT_TEXT, "the file holds a NUL character")
    return text


def expand(base: Base, pattern: str) -> tuple[Path, ...]:
    """
    The files that a path or a pattern such as `answers/*.yaml` stands for, sorted.

    Raises:
        PathRefused: A file lies outside the project, or a path without `*` leads to none.
    """
    if "*" not in pattern and "?" not in pattern:
        path = base.resolve(pattern)
        if not path.is_file():
            raise PathRefused(Code.MISSING_FILE, f"there is no such file; {_START}")
        return (path,)
    base.resolve(pattern)
    try:
        found = sorted(base.folder.glob(pattern))
    except (OSError, ValueError, NotImplementedError) as error:
        raise PathRefused(Code.BAD_VALUE, "the pattern cannot be followed") from error
    return tuple(inside(base.root, path) for path in found if path.is_file())
