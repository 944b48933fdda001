"""The files that stand beside a SKILL.md."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

#: How the file of a skill may be called.
NAMES: Final = ("SKILL.md", "skill.md")

#: How many files of one skill can be read.
MAX_FILES: Final = 200

_DEEPEST: Final = 10
#: Nobody looks through more than so many, whatever was put beside a skill.
_MOST: Final = 10_000


def is_skill_file(path: Path) -> bool:
    """Say whether a file makes the folder it is in a skill."""
    return path.name in NAMES


def skill_file(names: Iterable[str]) -> str | None:
    """Say which of a folder's entries makes it a skill."""
    known = set(names)
    return next((name for name in NAMES if name in known), None)


def misnamed(names: Iterable[str]) -> str | None:
    """Say which of a folder's entries was probably meant to make it a skill."""
    return next((name for name in names if name.lower() == "skill.md" and name not in NAMES), None)


def files_in(folder: Path) -> tuple[str, ...]:
    """
    List the files of a skill, relative to its folder and sorted.

    Hidden files and what is behind symbolic links are left out: they are not read either.
    """
    found = islice(_walk(folder, "", 0), _MOST)
    return tuple(sorted(path for path in found if path not in NAMES))


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or not _is_text(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEEPEST:
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", depth + 1)
        elif entry.is_file(follow_symlinks=False):
            yield f"{prefix}{entry.name}"


def _is_text(name: str) -> bool:
    """Whether a name can be written down; on Linux a file's may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
