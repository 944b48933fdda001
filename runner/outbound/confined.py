"""Files beneath one folder, opened so that no path and no change in between leads out of it."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runner.core.errors import OutboundError, OutboundRefused

#: Neither follows a symbolic link nor waits for whoever writes to a pipe.
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TROUBLES: Final = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "leads through a file as if it were a folder",
    errno.ELOOP: "is or leads through a symbolic link, and these are not followed",
    errno.EACCES: "may not be read",
    errno.ENAMETOOLONG: "is too long a path",
}


@contextmanager
def open_beneath(root: Path, path: str) -> Iterator[int]:
    """
    Open what stands at *path* beneath *root*, and give its file descriptor.

    Each folder on the way is opened from the one before, so that what was checked is what is used.
    Hidden files and folders are left alone: that is where keys and histories are kept.

    Raises:
        OutboundError: The path leads out of the folder, or to nothing that can be opened.
    """
    parts = _parts(path)
    descriptor = _open(str(root), beneath=None, path=path)
    try:
        for part in parts:
            outer, descriptor = descriptor, _open(part, beneath=descriptor, path=path)
            os.close(outer)
        yield descriptor
    finally:
        os.close(descriptor)


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts:
        raise OutboundRefused(
            f"{path!r} leads out of the folder: give a path relative to it, without '..'"
        )
    if any(part.startswith(".") for part in parts):
        raise OutboundRefused(f"{path!r} is hidden, and hidden files are not read")
    return parts


def _open(part: str, *, beneath: int | None, path: str) -> int:
    try:
        return os.open(part, _FLAGS, dir_fd=beneath)
    except OSError as error:
        trouble = _TROUBLES.get(error.errno or 0, "cannot be opened")
        raise OutboundError(f"{path!r} {trouble}") from error
    except ValueError as error:
        raise OutboundError(f"{path!r} is no path") from error
