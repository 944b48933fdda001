"""Fixtures of the tests that use whole projects."""

from pathlib import Path

import pytest

from tests.acceptance.clerk import CLERK, NOTES, SCRIPT
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


@pytest.fixture
def clerk(program: Program) -> Program:
    """The program in a project with an agent that uses tools."""
    program.write("agents/clerk.yaml", CLERK)
    program.write("python/notes.py", NOTES)
    program.write("script.yaml", SCRIPT)
    return program
