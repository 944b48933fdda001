"""Fixtures of the tests that use whole projects."""

from pathlib import Path

import pytest

from tests.example_project import ExampleProject
from tests.program import Program


@pytest.fixture
def program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """The command line in a project with one agent."""
    return Program(tmp_path, capsys)


@pytest.fixture
def example(tmp_path: Path) -> ExampleProject:
    """A copy of the project that comes with the runner."""
    return ExampleProject.copy_to(tmp_path)
