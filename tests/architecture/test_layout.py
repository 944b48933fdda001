"""What no linter checks: sizes, docstrings, and where outside libraries live."""

import ast
from pathlib import Path, PurePosixPath

import pytest

import runner
from tests.architecture.source import MODULES, imports_of, name_of, tree_of

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50

#: Where outside libraries live, in a package or a module; the rest speaks to our own types.
HOMES = {
    "broker": {"dramatiq", "pika", "redis"},
    "cli": {"click", "rich", "typer"},
    "clients": {"anthropic", "httpx2"},
    "clients/price_list.py": {"genai_prices"},
    "core/ids.py": {"uuid"},
    "definitions": {"yaml"},
    "definitions/json_schema.py": {"jsonschema", "referencing"},
    "store": {"alembic", "psycopg", "psycopg_pool", "sqlalchemy"},
    "tools": {"docstring_parser", "subprocess"},
    "worker": {"dramatiq"},
}

#: The packages whose own module may hold code: the front door, and what `dramatiq` is given.
OPEN_PACKAGES = {"__init__.py", "worker/__init__.py"}

in_every_module = pytest.mark.parametrize("module", MODULES, ids=name_of)


@in_every_module
def test_a_module_fits_in_the_head(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= MAX_MODULE_LINES


@in_every_module
def test_a_function_fits_on_a_screen(module: Path) -> None:
    too_long = {
        node.name
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MAX_FUNCTION_LINES
    }

    assert not too_long


@in_every_module
def test_a_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(tree_of(module))


@pytest.mark.parametrize("module", [m for m in MODULES if m.name == "__init__.py"], ids=name_of)
def test_only_the_front_door_and_the_worker_have_code_in_their_package(module: Path) -> None:
    assert name_of(module) in OPEN_PACKAGES or len(tree_of(module).body) == 1


@in_every_module
def test_outside_libraries_stay_at_home(module: Path) -> None:
    place = PurePosixPath(name_of(module))
    at_home = set[str]().union(*(HOMES[home] for home in HOMES if place.is_relative_to(home)))
    settled = set[str]().union(*HOMES.values())
    imported = {name.partition(".")[0] for name in imports_of(module)}

    assert not imported & (settled - at_home)


@in_every_module
def test_no_import_hides_from_the_interpreter(module: Path) -> None:
    assert "TYPE_CHECKING" not in module.read_text()


@pytest.mark.parametrize("name", runner.__all__)
def test_what_the_front_door_promises_is_there(name: str) -> None:
    assert getattr(runner, name)
