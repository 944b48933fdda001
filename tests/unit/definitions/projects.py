"""Projects made of a few files, and what is told of them."""

from collections.abc import Mapping
from pathlib import Path

from runner.definitions.config_loader import LoadedConfig, load_config
from runner.definitions.problem import Problem
from runner.definitions.project import Project, load_project


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def load(
    root: Path, files: Mapping[str, str | bytes], environ: Mapping[str, str] | None = None
) -> Project:
    write(root, files)
    given = environ or {}
    return load_project(load_config(None, environ=given, cwd=root), environ=given)


def configured(root: Path, text: str, environ: Mapping[str, str] | None = None) -> LoadedConfig:
    write(root, {"config.yaml": text})
    return load_config(None, environ=environ or {}, cwd=root)


def told(problems: tuple[Problem, ...]) -> list[str]:
    return [f"{problem.location} {problem.code}" for problem in problems]


def only(problems: tuple[Problem, ...]) -> Problem:
    assert len(problems) == 1, told(problems)
    return problems[0]
