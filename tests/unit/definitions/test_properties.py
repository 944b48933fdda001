"""Whatever is in a file, loading it tells problems that lie inside the file."""

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from yaml import safe_dump

from runner.definitions.config_loader import load_config
from runner.definitions.project import Project, load_project
from runner.definitions.yaml_tree import parse
from tests.unit.definitions.projects import write

KEYS = st.one_of(
    st.sampled_from(["name", "kind", "tools", "limits", "timeout", "model", "instructions"]),
    st.sampled_from(["builtin", "python", "parameters", "thinking", "effort", "input_schema"]),
    st.sampled_from(["clients", "type", "api_key", "x-a"]),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["tool", "agent", "${X}", "${", "30s", "../a", "read_file", "scripted", "a:b"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(KEYS, st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=20,
)
TEXTS = st.text(
    st.one_of(st.sampled_from("[]{}:-,&*!|>'\"#%@`\t\n ?ab01"), st.characters()), max_size=60
)


def load(text: bytes) -> tuple[Project, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, {"config.yaml": text, "agents/a.yaml": text})
        project = load_project(load_config(None, environ={}, cwd=root), environ={})
    decoded = text.decode("utf-8-sig", "replace")
    return project, decoded.splitlines() or [""]


def assert_inside(project: Project, lines: list[str]) -> None:
    for problem in project.problems:
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        assert len(problem.message) < 500
        assert "Traceback" not in problem.message


@given(TREES)
def test_any_values_are_read_or_told(tree: object) -> None:
    assert_inside(*load(safe_dump(tree, allow_unicode=True).encode("utf-8", "replace")))


@given(TEXTS)
@example("? ")
@example("- - -")
@example("a: |\n")
@example("---\n...\n---")
@example("\u2028a: [")
@example("a:\r\rb: [")
@example("'\u2029")
def test_any_text_is_read_or_told(text: str) -> None:
    assert_inside(*load(text.encode("utf-8", "replace")))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_told(data: bytes) -> None:
    for problem in parse(data, "a.yaml").problems:
        assert problem.line >= 1
        assert problem.column >= 1
