"""The source of the runner, as the architecture tests read it."""

import ast
from pathlib import Path

import runner

PACKAGE = Path(str(runner.__file__)).parent
ROOT = PACKAGE.parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text())


def imports_of(module: Path) -> set[str]:
    """Every module named in an import statement, wherever it stands."""
    found = set[str]()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found
