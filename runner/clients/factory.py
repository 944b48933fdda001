"""Makes a model client of its definition, loading its kind when it is first asked for."""

from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, cast

from runner.core.ports import ModelClient
from runner.definitions.config import ClientConfig

#: Each kind's module, which has a function `build` as `_Kind` describes it.
_KINDS: Final = MappingProxyType(
    {"anthropic": "runner.clients.anthropic.client", "scripted": "runner.clients.scripted"}
)


class _Kind(Protocol):
    def build(self, name: str, definition: ClientConfig, *, root: Path) -> ModelClient: ...


def build_client(name: str, definition: ClientConfig, *, root: Path) -> ModelClient:
    """
    Make the client that the config declares under *name*.

    A client without its key is made all the same and can render requests; it raises
    `ModelAccessDenied` once it is to send one.

    Args:
        name: The client's name in the config.
        definition: What the config says of it.
        root: The project's folder.

    Raises:
        ConfigError: A file that the definition names cannot be used.
    """
    kind = cast("_Kind", import_module(_KINDS[definition.type]))
    return kind.build(name, definition, root=root)
