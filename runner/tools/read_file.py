"""The built-in tool that reads text files, and lists folders, beneath one folder."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from runner.core.errors import ConfigError, OutboundError, ToolError
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import ToolContext, ToolRules
from runner.definitions.json_schema import Validator
from runner.definitions.tool import BuiltinTool
from runner.outbound.confined import open_beneath
from runner.tools.rules import rules_of
from runner.tools.surroundings import Surroundings
from runner.tools.windows import WINDOW_PARAMETERS, window

_DESCRIPTION: Final = (
    "Read a text file, whole or some of its lines, or list a folder. A long file is best read in"
    " pieces, with offset and limit."
)
_PARAMETERS: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "The file or folder, relative to the outermost one, which is '.'.",
        },
        **WINDOW_PARAMETERS,
    },
    "required": ["path"],
    "additionalProperties": False,
}
_MAX_ENTRIES: Final = 500


def build(definition: BuiltinTool, surroundings: Surroundings) -> "ReadFile":
    """
    Build the tool, confined to the folder that *definition* names.

    Raises:
        ConfigError: The folder is not there or not in the project, or parameters are declared.
    """
    if definition.parameters is not None:
        raise ConfigError(
            f"tool {definition.name!r} cannot declare parameters: read_file has its own"
        )
    project = surroundings.root.resolve()
    root = (project / (definition.root or ".")).resolve()
    if not root.is_relative_to(project) or not root.is_dir():
        raise ConfigError(
            f"tool {definition.name!r} reads from {definition.root!r}, which is no folder of the"
            " project"
        )
    return ReadFile(
        spec=ToolSpec(
            name=definition.name,
            description=definition.description or _DESCRIPTION,
            parameters=_PARAMETERS,
        ),
        rules=rules_of(definition),
        root=root,
        max_bytes=definition.max_bytes,
        validator=Validator(_PARAMETERS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Reads what is beneath a folder, and nothing else."""

    spec: ToolSpec
    rules: ToolRules
    #: With no symbolic link in it.
    root: Path
    #: The longest file that is read.
    max_bytes: int
    validator: Validator

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return self.validator.complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> JsonObject:  # noqa: ARG002 - as every tool
        """
        Read a file's lines or a folder's entries.

        Raises:
            ToolError: There is nothing to read, or it may not be read.
        """
        path = str(arguments["path"])
        try:
            with open_beneath(self.root, path) as descriptor:
                return self._read(descriptor, path, arguments)
        except OutboundError as error:
            raise ToolError(str(error)) from error

    def _read(self, descriptor: int, path: str, arguments: JsonObject) -> JsonObject:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            return {"path": path, **_listing(descriptor)}
        if not stat.S_ISREG(mode):
            raise ToolError(f"{path!r} is neither a file nor a folder")
        content = self._content(descriptor, path)
        lines = content.removesuffix("\n").split("\n") if content else []
        return {"path": path, "lines": len(lines), **window(lines, arguments, path)}

    def _content(self, descriptor: int, path: str) -> str:
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(self.max_bytes + 1)
        if len(content) > self.max_bytes:
            raise ToolError(f"{path!r} is longer than the {self.max_bytes:,} bytes that are read")
        return content.decode(errors="replace")


def _listing(descriptor: int) -> JsonObject:
    """List a folder; the names of folders end with a slash."""
    with os.scandir(descriptor) as entries:
        names = sorted(
            f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
            for entry in entries
            if not entry.name.startswith(".")
        )
    left_out = len(names) - _MAX_ENTRIES
    shown: JsonObject = {"entries": names[:_MAX_ENTRIES]}
    return {**shown, "entries_left_out": left_out} if left_out > 0 else shown
