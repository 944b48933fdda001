"""Projects with skills."""

from collections.abc import Mapping
from pathlib import Path

from runner.definitions.project import Project
from runner.definitions.skill import SkillFolder
from tests.unit.definitions.projects import load

HEAD = "name: letters\ndescription: How letters are written.\n"
SKILL = f"---\n{HEAD}---\n\nBe brief.\n"
PLACE = "agents/skills/letters/SKILL.md"


def project_of(
    root: Path, text: str | bytes, more: Mapping[str, str | bytes] | None = None
) -> Project:
    """A project with one folder of a skill, `letters`, and whatever else is given."""
    return load(root, {PLACE: text, **(more or {})})


def letters(project: Project) -> SkillFolder:
    """The skill of `project_of`, in which nothing is wrong but what is worth a warning."""
    assert not [problem for problem in project.problems if problem.is_error], project.problems
    skill = project.registry.skill("letters")
    assert isinstance(skill, SkillFolder)
    return skill
