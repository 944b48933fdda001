"""Contributors that are a file of the project."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.core.errors import OutboundRefused
from runner.definitions.context import FileContext
from runner.outbound.confined import open_beneath
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file, read whenever it is asked for."""

    root: Path
    path: str
    max_bytes: int

    def read(self, context: ContributorContext, limit: Limit) -> str:
        del context, limit
        with open_beneath(self.root, self.path) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OutboundRefused(f"{self.path!r} is not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(self.max_bytes + 1)
        if len(data) > self.max_bytes:
            raise OutboundRefused(
                f"{self.path!r} is longer than the {self.max_bytes:,} bytes that are read"
            )
        return data.decode("utf-8-sig", errors="replace")


def build(definition: FileContext, surroundings: Surroundings) -> FileSource:
    return FileSource(surroundings.root.resolve(), definition.file, definition.max_bytes)
