"""Good and bad skills, held against the reference validator of the Agent Skills format."""

from pathlib import Path

import pytest
from skills_ref.validator import validate

from tests.unit.definitions.projects import load

NAME = "name: letters\n"
DESCRIPTION = "description: How letters are written.\n"


def verdicts(root: Path, text: str, folder: str = "letters") -> tuple[bool, bool]:
    """Whether the reference takes a skill, and whether we do."""
    project = load(root, {f"agents/{folder}/SKILL.md": text})
    return not validate(root / "agents" / folder), project.is_sound


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"---\n{NAME}{DESCRIPTION}---\nBe brief.\n", id="the least"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}---\n", id="no text"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}license: MIT\n---\nBe\n", id="a licence"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}license:\n---\nBe\n", id="an empty licence"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}allowed-tools: Read Bash(git:*)\n---\n", id="tools"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}allowed-tools:\n---\nBe\n", id="no tool"),
        pytest.param(
            f"---\n{NAME}{DESCRIPTION}metadata:\n  version: 1.10\n  on: yes\n---\nBe\n", id="more"
        ),
        pytest.param(f"---\n{NAME}description: '{'a' * 1024}'\n---\nBe\n", id="1024 characters"),
        pytest.param(
            f"---\n{NAME}{DESCRIPTION}compatibility: '{'a' * 500}'\n---\nBe\n", id="500 characters"
        ),
        pytest.param(f"---\n{NAME}description: >-\n  Long\n  text\n---\nBe\n", id="a folded text"),
        pytest.param(f"---\n{NAME}description: 'Use when: asked'\n---\nBe\n", id="a quoted colon"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}---\nBe\n---\nMore\n", id="dashes in the text"),
        pytest.param(f"---\n# ours\n{NAME}{DESCRIPTION}---\nBe\n", id="a comment"),
    ],
)
def test_what_the_reference_takes_we_take(text: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, text) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Be brief.\n", id="no frontmatter"),
        pytest.param("", id="nothing"),
        pytest.param(f"\n---\n{NAME}{DESCRIPTION}---\nBe\n", id="a line before it"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}\nBe brief.\n", id="not closed"),
        pytest.param("---\n---\nBe\n", id="an empty frontmatter"),
        pytest.param("---\n- a\n---\nBe\n", id="a list"),
        pytest.param(f"---\n{NAME}---\nBe\n", id="no description"),
        pytest.param(f"---\n{DESCRIPTION}---\nBe\n", id="no name"),
        pytest.param(f"---\n{NAME}description:\n---\nBe\n", id="an empty description"),
        pytest.param(f"---\n{NAME}description: '{'a' * 1025}'\n---\nBe\n", id="1025 characters"),
        pytest.param(
            f"---\n{NAME}{DESCRIPTION}compatibility: '{'a' * 501}'\n---\nBe\n", id="501 characters"
        ),
        pytest.param(f"---\n{NAME}{DESCRIPTION}version: 1\n---\nBe\n", id="another key"),
        pytest.param(f"---\n{NAME}{NAME}{DESCRIPTION}---\nBe\n", id="a key twice"),
        pytest.param(f"---\n{NAME}description: [a\n---\nBe\n", id="an open bracket"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}metadata:\n\ta: b\n---\nBe\n", id="a tab"),
        *(
            pytest.param(f"---\nname: {name}\n{DESCRIPTION}---\nBe\n", id=f"the name {name}")
            for name in ("Letters", "let_ters", "-letters", "letters-", "let--ters", "notes")
        ),
    ],
)
def test_what_the_reference_refuses_we_refuse(text: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, text) == (False, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"---\n{NAME}description: Use when: asked\n---\nBe\n", id="a bare colon"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}allowed-tools: [Read]\n---\nBe\n", id="brackets"),
        pytest.param(f"---\n{NAME}description: '---'\n---\nBe\n", id="dashes in a value"),
    ],
)
def test_we_take_more_where_the_meaning_is_plain(text: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, text) == (False, True)


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        pytest.param(f"---\nname: grüße\n{DESCRIPTION}---\nBe\n", "grüße", id="other letters"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}---\n{'a' * 100_001}", "letters", id="too large"),
        pytest.param(f"---\n{NAME}{DESCRIPTION}metadata: a\n---\nBe\n", "letters", id="metadata"),
    ],
)
def test_we_refuse_more_where_it_would_do_harm(text: str, folder: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path, text, folder) == (True, False)
