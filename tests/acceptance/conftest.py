"""Fixtures of the tests that use whole projects."""

from pathlib import Path

import pytest

from tests.program import Program


@pytest.fixture
def program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """The command line in a project with one agent."""
    return Program(tmp_path, capsys)
