"""What makes a skill's definition whole and right, beyond its form."""

from collections.abc import Iterator
from pathlib import Path as FilePath

from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem, Severity
from runner.definitions.skill import ADVISED_TEXT, MAX_TEXT, SkillDefinition, SkillEntry
from runner.definitions.surroundings import Surroundings
from runner.definitions.text_files import read_text_of
from runner.definitions.tool_entries import check_tools, complete_tools


def complete(
    skill: SkillDefinition, document: Document, at: Path = ()
) -> tuple[SkillDefinition, list[Problem], list[FilePath]]:
    """Make a skill independent of files: its text is put in."""
    changes: dict[str, object] = {}
    problems: list[Problem] = []
    files: list[FilePath] = []
    if skill.content_file is not None:
        text, path, found = read_text_of("content", skill.content_file, document, at)
        changes |= {"content": text, "content_file": None}
        problems += found
        files += [path] if path else []
    elif skill.content is None and not document.has((*at, "content")):
        message = "a skill has one of the keys content, content_file"
        problems.append(document.problem(at, Code.MISSING_KEY, message))
    changes["tools"], found = complete_tools(skill.tools, document, at)
    return skill.model_copy(update=changes), problems + found, files


def complete_all(
    entries: tuple[SkillEntry, ...], document: Document, at: Path
) -> tuple[tuple[SkillEntry, ...], list[Problem], list[FilePath]]:
    """Make the skills that are written in a list independent of files."""
    skills: list[str | SkillDefinition] = []
    problems: list[Problem] = []
    files: list[FilePath] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, str):
            skills.append(entry)
            continue
        completed, found, more = complete(entry, document, (*at, index))
        skills.append(completed)
        problems += found
        files += more
    return tuple(skills), problems, files


def check(
    skill: SkillDefinition, document: Document, surroundings: Surroundings, at: Path = ()
) -> Iterator[Problem]:
    """Tell what in a skill is too large, or refers to what is not there."""
    size = len((skill.content or "").encode("utf-8", "replace"))
    place = (*at, "content") if document.has((*at, "content")) else (*at, "content_file")
    if skill.content is not None and not skill.content.strip():
        message = "the skill has no text"
        yield document.problem(place, Code.EMPTY_SKILL, message, severity=Severity.WARNING)
    if size > MAX_TEXT:
        message = f"the skill's text has {size:,} bytes, and {MAX_TEXT:,} are allowed"
        hint = "move parts of it to files that are read when they are needed"
        yield document.problem(place, Code.SKILL_TOO_LARGE, message, hint=hint)
    elif size > ADVISED_TEXT:
        message = f"the skill's text has {size:,} bytes; it should have at most {ADVISED_TEXT:,}"
        hint = "move parts of it to files that are read when they are needed"
        yield document.problem(
            place, Code.SKILL_TOO_LARGE, message, hint=hint, severity=Severity.WARNING
        )
    yield from check_tools(skill.tools, document, surroundings, at, owner="skill")
