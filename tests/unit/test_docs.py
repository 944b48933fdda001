"""What the documents say, held against what is there."""

from pathlib import Path

import pytest

from runner.clients.script_files import load_scripts
from runner.definitions.config_loader import load_config
from runner.definitions.project import load_project
from runner.definitions.report import as_text
from tests.example_project import REPOSITORY
from tests.markdown import Page
from tests.unit.pages import ENVIRON, every_page, project_of


@every_page
def test_an_example_in_yaml_says_which_file_it_is(each: Page) -> None:
    assert all(block.path for block in each.blocks("yaml"))


@every_page
def test_the_definitions_of_a_page_are_valid(each: Page, tmp_path: Path) -> None:
    loaded = load_config(project_of(each, tmp_path) / "config.yaml", environ=ENVIRON, cwd=tmp_path)

    project = load_project(loaded, environ=ENVIRON)

    assert list(as_text(project.problems)) == []


@every_page
def test_the_configs_of_a_page_are_valid(each: Page, tmp_path: Path) -> None:
    config = project_of(each, tmp_path) / "config.yaml"
    for block in each.blocks("yaml"):
        if block.path == "config.yaml":
            config.write_text(block.text)

            loaded = load_config(config, environ=ENVIRON, cwd=tmp_path)

            assert list(as_text(loaded.problems)) == []


@every_page
def test_the_offline_answers_of_a_page_can_be_read(each: Page, tmp_path: Path) -> None:
    scripts = [b.path for b in each.blocks("yaml") if b.path.startswith("agents/_offline/")]

    entries = load_scripts(scripts, root=project_of(each, tmp_path))

    assert bool(entries) == bool(scripts)


@pytest.mark.parametrize("config", ["config.yaml", "config.example.yaml"])
def test_the_project_of_the_repository_is_valid(config: str) -> None:
    loaded = load_config(REPOSITORY / config, environ={}, cwd=REPOSITORY)

    project = load_project(loaded, environ={})

    assert list(as_text(project.problems)) == []
    assert set(project.registry.agents) == {
        "archivist",
        "auditor",
        "briefer",
        "editor",
        "fact_checker",
        "guide",
        "researcher",
        "support",
    }


@pytest.mark.parametrize(
    "path",
    [
        *(REPOSITORY / name for name in ("config.yaml", "config.example.yaml")),
        *sorted(
            path for path in REPOSITORY.glob("agents/**/*.yaml") if "_offline" not in path.parts
        ),
    ],
    ids=lambda path: path.relative_to(REPOSITORY).as_posix(),
)
def test_a_file_says_to_editors_which_schema_it_has(path: Path) -> None:
    first = path.read_text("utf-8").splitlines()[0]

    _, marked, schema = first.partition("# yaml-language-server: $schema=")

    assert marked
    assert (path.parent / schema).resolve().parent == REPOSITORY / "schemas"
    assert (path.parent / schema).is_file()
