"""References to Python functions, `module:function`, and whether the config allows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonReference:
    """A function, by the names it is reached by."""

    module: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModule:
    """A module that Python finds by its name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectModule:
    """A module that is a file below a folder of the project."""

    name: str
    #: The folder that the config lists, resolved.
    folder: Path
    path: Path


ModuleSource: TypeAlias = InstalledModule | ProjectModule


def parse_reference(text: str) -> PythonReference:
    """
    Take `module:function` apart.

    Raises:
        ValueError: It is not one.
    """
    module, separator, function = text.partition(":")
    parts = [*module.split("."), function]
    if not separator or not all(part.isidentifier() for part in parts):
        raise ValueError("expected a function written as module:function")
    return PythonReference(module=module, function=function)


def is_folder(entry: str) -> bool:
    """Whether an entry of `python_modules` is a folder of the project."""
    return "/" in entry


def find_module(module: str, allowed: Iterable[str], root: Path) -> ModuleSource | None:
    """
    Say where an allowed module is, without importing anything.

    Args:
        module: Its dotted name.
        allowed: The config's `python_modules`: `package.module`, `package.` for all of a
            package, or a folder with a slash in its path, whose files are modules.
        root: The project's folder.

    Returns:
        None for a module that is not allowed, or is not a file of an allowed folder.
    """
    for entry in allowed:
        if is_folder(entry):
            found = _in_folder(module, root / entry, root)
            if found:
                return found
        elif module == entry.removesuffix(".") or (
            entry.endswith(".") and module.startswith(entry)
        ):
            return InstalledModule(name=module)
    return None


def _in_folder(module: str, folder: Path, root: Path) -> ProjectModule | None:
    real = folder.resolve()
    stem = real.joinpath(*module.split("."))
    for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if path.is_file() and path.resolve().is_relative_to(root):
            return ProjectModule(name=module, folder=real, path=path.resolve())
    return None
