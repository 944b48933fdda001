from pathlib import Path

import pytest

from tests.example_project import ExampleProject


@pytest.fixture
def example(tmp_path: Path) -> ExampleProject:
    return ExampleProject.copy_to(tmp_path)
