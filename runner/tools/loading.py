"""
Functions that definitions name, imported from the modules the operator listed.

A listed folder of the project is loaded as a package of its own, under a private name and without
a place on `sys.path`: nothing outside can import its modules by accident or shadow them, and they
import each other relatively, as in `from . import helpers`. A module is imported once per process.
"""

import hashlib
import inspect
import sys
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import assert_never

from runner.core.errors import ConfigError
from runner.definitions.python_references import (
    InstalledModule,
    ModuleSource,
    ProjectModule,
    find_module,
    parse_reference,
)
from runner.tools.surroundings import Surroundings


def load_function(reference: str, surroundings: Surroundings) -> FunctionType:
    """
    Import the function that `module:function` names.

    Raises:
        ConfigError: The module is not listed or cannot be imported, or the name is not that of a
            function defined in it.
    """
    wanted = parse_reference(reference)
    module = _load_module(wanted.module, surroundings)
    found = vars(module).get(wanted.function)
    if wanted.function.startswith("__") or not isinstance(found, FunctionType):
        raise ConfigError(f"there is no function {wanted.function!r} in {wanted.module!r}")
    if found.__module__ != module.__name__:
        raise ConfigError(
            f"the function is not defined in {wanted.module!r} but comes from {found.__module__!r}"
        )
    if found.__name__ == "<lambda>":
        raise ConfigError("it is a lambda: write it as a function")
    if inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found):
        raise ConfigError("the function yields: return a list")
    return found


def _load_module(name: str, surroundings: Surroundings) -> ModuleType:
    source = _find(name, surroundings)
    match source:
        case InstalledModule():
            return _import(name, name)
        case ProjectModule(folder=folder):
            return _import_from(folder, name, surroundings)
        case None:
            raise ConfigError(f"the config does not list the module {name!r} in python_modules")
        case _:
            assert_never(source)


def _find(name: str, surroundings: Surroundings) -> ModuleSource | None:
    return find_module(name, surroundings.python_modules, surroundings.root.resolve())


def _import_from(folder: Path, name: str, surroundings: Surroundings) -> ModuleType:
    package = _package_of(folder)
    # A file that was added a moment ago would not be found otherwise.
    invalidate_caches()
    try:
        return _import(f"{package}.{name}", name)
    except ConfigError as error:
        missing = error.__cause__
        if isinstance(missing, ModuleNotFoundError) and isinstance(
            _find(missing.name or "", surroundings), ProjectModule
        ):
            raise ConfigError(
                f"{name!r} imports {missing.name!r}, which stands beside it: write that as"
                " 'from . import …'"
            ) from missing
        raise


def _package_of(folder: Path) -> str:
    """Make *folder* a package that only full names reach, and return its name."""
    name = f"runner_modules_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules.setdefault(name, module_from_spec(spec))
    return name


def _import(name: str, shown: str) -> ModuleType:
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"importing {shown!r} failed: {type(error).__name__}: {error}") from error
