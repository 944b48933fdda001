from pathlib import Path

from runner.cli.importing import import_problems
from tests.unit.definitions.projects import load

CONFIG = "python_modules: [python/]\n"
TOOL = "kind: tool\ndescription: Notes.\npython: notes:gone\n"


def test_a_function_that_is_missing_is_a_problem_at_the_value_of_its_key(tmp_path: Path) -> None:
    module = "def note() -> None: ...\n"
    project = load(
        tmp_path,
        {"config.yaml": CONFIG, "agents/note.yaml": TOOL, "python/notes.py": module},
    )

    (problem,) = import_problems(project)

    assert str(problem.location) == "agents/note.yaml:3:9"
    assert problem.source_line == "python: notes:gone"


def test_a_file_that_is_gone_meanwhile_has_its_problem_where_the_tool_was(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {"config.yaml": CONFIG, "agents/note.yaml": f"# one\n{TOOL}", "python/notes.py": ""},
    )
    (tmp_path / "agents" / "note.yaml").unlink()

    (problem,) = import_problems(project)

    assert str(problem.location) == "agents/note.yaml:2:1"
    assert problem.source_line == ""
