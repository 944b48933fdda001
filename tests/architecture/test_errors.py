"""The tree of errors: drawn as it is, and grown in one module only."""

import ast
import builtins
import inspect
from pathlib import Path

import pytest

from runner.core import errors
from tests.architecture.source import MODULES, PACKAGE, name_of, tree_of

ERRORS = [
    error
    for error in vars(errors).values()
    if inspect.isclass(error) and error.__module__ == errors.__name__
]
FOREIGN = {
    name
    for name, value in vars(builtins).items()
    if inspect.isclass(value) and issubclass(value, BaseException)
}


def draw(error: type, depth: int = 0) -> list[str]:
    children = [child for child in ERRORS if error in child.__bases__]
    return [
        "  " * depth + error.__name__,
        *(line for child in children for line in draw(child, depth + 1)),
    ]


def test_the_trees_of_errors_are_drawn_as_they_are() -> None:
    roots = [error for error in ERRORS if not set(error.__bases__) & set(ERRORS)]
    _, drawing = str(inspect.getdoc(errors)).split("\n\n", maxsplit=1)

    assert [root.__name__ for root in roots] == ["RunnerError", "Interruption"]
    assert drawing == "\n\n".join("\n".join(draw(root)) for root in roots)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_error_says_when_it_is_raised(error: type) -> None:
    assert error.__doc__


@pytest.mark.parametrize(
    "module", [m for m in MODULES if m != PACKAGE / "core/errors.py"], ids=name_of
)
def test_errors_that_leave_their_module_are_declared_in_one(module: Path) -> None:
    known = FOREIGN | {error.__name__ for error in ERRORS}
    strays = {
        node.name
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and {base.id for base in node.bases if isinstance(base, ast.Name)} & known
    }

    assert not strays
