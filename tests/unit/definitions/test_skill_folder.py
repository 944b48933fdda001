"""Folders with a SKILL.md: what is read of them, and what is told."""

import os
from pathlib import Path

import pytest

from runner.definitions.codes import Code
from runner.definitions.problem import Severity
from tests.unit.definitions.projects import load, only, told
from tests.unit.definitions.skills import HEAD, PLACE, SKILL, letters, project_of


def test_a_folder_is_read_with_its_frontmatter_text_and_files(tmp_path: Path) -> None:
    text = (
        f"---\n{HEAD}license: MIT\ncompatibility: Needs paper.\n"
        "metadata: {author: ada, version: 1.10}\nallowed-tools: look_up save\n---\n\n# Letters\n"
    )
    files = {"agents/skills/letters/examples/a.md": "Dear you", "agents/skills/letters/b.txt": ""}

    skill = letters(project_of(tmp_path, text, files))

    assert (skill.name, skill.description) == ("letters", "How letters are written.")
    assert (skill.content, skill.license, skill.compatibility) == (
        "# Letters",
        "MIT",
        "Needs paper.",
    )
    assert skill.metadata == {"author": "ada", "version": "1.10"}
    assert skill.allowed_tools == ("look_up", "save")
    assert skill.folder == "agents/skills/letters"
    assert [file.path for file in skill.files] == ["b.txt", "examples/a.md"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SKILL.replace("\n", "\r\n"), id="line breaks of Windows"),
        pytest.param(SKILL.replace("\n", "\r"), id="line breaks of the old Mac"),
        pytest.param(b"\xef\xbb\xbf" + SKILL.encode(), id="a byte order mark"),
        pytest.param(SKILL.replace("---\n", "---  \t\n"), id="spaces after the dashes"),
        pytest.param(SKILL.replace("name: ", "name:\t"), id="a tab after a key"),
        pytest.param(SKILL.replace("letters\n", "letters # ours\n"), id="a comment"),
        pytest.param(SKILL.replace("letters\n", "'letters'\n"), id="quotes"),
        pytest.param(SKILL.rstrip(), id="no line break at the end"),
        pytest.param(SKILL, id="as it should be"),
    ],
)
def test_how_a_file_is_written_makes_no_difference(text: str | bytes, tmp_path: Path) -> None:
    project = project_of(tmp_path, text)

    assert project.problems == ()
    assert (letters(project).description, letters(project).content) == (
        "How letters are written.",
        "Be brief.",
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("Use when: asked", "Use when: asked", id="a colon"),
        pytest.param("a: b: 'c' it's", "a: b: 'c' it's", id="colons and quotes"),
        pytest.param("Do this:", "Do this:", id="a colon at the end"),
        pytest.param("Use for:\n  letters: all of them", "Use for: letters: all of them", id="two"),
        pytest.param("Bug: see #12 or so #13", "Bug: see #12 or so #13", id="a hash behind it"),
        pytest.param("- first: x", "- first: x", id="a dash in front"),
    ],
)
def test_a_text_with_a_colon_needs_no_quotes(written: str, meant: str, tmp_path: Path) -> None:
    text = f"---\nname: letters\ndescription: {written}\nlicense: MIT\n---\nBe brief.\n"

    project = project_of(tmp_path, text)

    assert letters(project).description == meant
    warning = only(project.problems)
    assert (warning.code, warning.severity) == (Code.UNQUOTED_TEXT, Severity.WARNING)
    assert (warning.path, warning.line, warning.column) == (PLACE, 3, 14)
    assert warning.source_line.startswith("description: ")


def test_colons_in_metadata_and_blocks_are_kept_apart(tmp_path: Path) -> None:
    text = (
        "---\nname: letters\ndescription: |\n  Use when: asked\n  or: not\n"
        "metadata:\n  note: a: b\n  other: c\n---\nBe brief.\n"
    )

    skill = letters(project_of(tmp_path, text))

    assert skill.description == "Use when: asked\nor: not"
    assert skill.metadata == {"note": "a: b", "other": "c"}


@pytest.mark.parametrize(
    "description",
    ["before --- after", "'---'", '"a --- b"', "|\n  ---\n  a", ">-\n  a\n  ---\n  b"],
)
def test_dashes_within_a_value_end_nothing(description: str, tmp_path: Path) -> None:
    text = f"---\nname: letters\ndescription: {description}\n---\nBe brief.\n---\nAlways.\n"

    skill = letters(project_of(tmp_path, text))

    assert "---" in skill.description
    assert skill.content == "Be brief.\n---\nAlways."


def test_a_variable_is_text(tmp_path: Path) -> None:
    text = SKILL.replace("How letters", "${HOME} ${").replace("Be brief", "${HOME}")

    skill = letters(project_of(tmp_path, text))

    assert (skill.description, skill.content) == ("${HOME} ${ are written.", "${HOME}.")


def test_every_single_value_is_text(tmp_path: Path) -> None:
    text = "---\nname: 123\ndescription: no\nlicense: 2.0\ncompatibility: true\n---\nBe brief.\n"

    project = load(tmp_path, {"agents/123/SKILL.md": text})

    assert project.problems == ()
    skill = project.registry.skill("123")
    assert (skill.description, skill.license, skill.compatibility) == ("no", "2.0", "true")


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("Read Grep", ("Read", "Grep")),
        ("Read, Grep,Glob", ("Read", "Grep", "Glob")),
        ("[Read, Grep]", ("Read", "Grep")),
        ("\n  - Read\n  - save_text", ("Read", "save_text")),
        ("Bash(git add *) Bash(jq:*), Read", ("Bash(git add *)", "Bash(jq:*)", "Read")),
        ("Bash(git", ("Bash(git",)),
    ],
)
def test_allowed_tools_are_a_text_or_a_list(
    written: str, tools: tuple[str, ...], tmp_path: Path
) -> None:
    text = f"---\n{HEAD}allowed-tools: {written}\n---\nBe brief.\n"

    assert letters(project_of(tmp_path, text)).allowed_tools == tools


def test_metadata_that_is_nested_is_kept_as_text(tmp_path: Path) -> None:
    text = f"---\n{HEAD}metadata:\n  a: {{b: [1, x]}}\n  c:\n---\nBe brief.\n"

    assert letters(project_of(tmp_path, text)).metadata == {"a": '{"b":[1,"x"]}', "c": ""}


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        pytest.param("Be brief.\n", "1:1", Code.BAD_FRONTMATTER, id="no frontmatter"),
        pytest.param("", "1:1", Code.BAD_FRONTMATTER, id="nothing"),
        pytest.param("\n" + SKILL, "1:1", Code.BAD_FRONTMATTER, id="a line before it"),
        pytest.param(f"---\n{HEAD}\nBe", "1:1", Code.BAD_FRONTMATTER, id="not closed"),
        pytest.param("---\n---\nBe brief.\n", "1:1", Code.BAD_FRONTMATTER, id="empty"),
        pytest.param("---\n- a\n---\nBe\n", "1:1", Code.BAD_FRONTMATTER, id="a list"),
        pytest.param("---\nname: letters\n---\nBe\n", "2:1", Code.MISSING_KEY, id="undescribed"),
        pytest.param("---\ndescription: a\n---\nBe\n", "2:1", Code.MISSING_KEY, id="nameless"),
        pytest.param(
            "---\nname: letters\ndescription:\n---\nBe\n", "3:13", Code.NULL_VALUE, id="no value"
        ),
        pytest.param(
            "---\nname: letters\ndescription: [a]\n---\nBe\n", "3:14", Code.WRONG_TYPE, id="no text"
        ),
        pytest.param(
            f"---\n{HEAD}version: 1\n---\nBe\n", "4:1", Code.UNKNOWN_KEY, id="an unknown key"
        ),
        pytest.param(
            f"---\n{HEAD}metadata: ada\n---\nBe\n", "4:11", Code.WRONG_TYPE, id="metadata"
        ),
        pytest.param(
            f"---\n{HEAD}allowed-tools: {{a: b}}\n---\nBe\n", "4:16", Code.WRONG_TYPE, id="tools"
        ),
        pytest.param(
            f"---\n{HEAD}metadata:\n\tauthor: a\n---\nBe\n", "5:1", Code.TAB_INDENTATION, id="tab"
        ),
        pytest.param(f"---\n{HEAD}name: b\n---\nBe\n", "4:1", Code.DUPLICATE_KEY, id="twice"),
        pytest.param(
            "---\nname: letters\ndescription: [a\n---\nBe\n",
            "3:16",
            Code.INVALID_SYNTAX,
            id="an open bracket",
        ),
        pytest.param(
            f"---\n{HEAD}license: !!python/object:os.system x\n---\nBe\n",
            "4:10",
            Code.UNKNOWN_TAG,
            id="a tag",
        ),
        pytest.param(SKILL.replace("letters\n", "Letters\n"), "2:7", Code.BAD_NAME, id="capital"),
        pytest.param(SKILL.replace("letters\n", "let_ters\n"), "2:7", Code.BAD_NAME, id="_"),
        pytest.param(SKILL.replace("letters\n", "-letters\n"), "2:7", Code.BAD_NAME, id="-a"),
        pytest.param(SKILL.replace("letters\n", "let--ters\n"), "2:7", Code.BAD_NAME, id="--"),
        pytest.param(SKILL.replace("letters\n", "a" * 65 + "\n"), "2:7", Code.BAD_NAME, id="long"),
        pytest.param(SKILL.replace("letters\n", "notes\n"), "2:7", Code.BAD_NAME, id="another"),
        pytest.param(
            SKILL.replace("How", "How" * 400), "3:14", Code.BAD_VALUE, id="a long description"
        ),
        pytest.param(
            f"---\n{HEAD}compatibility: {'a' * 501}\n---\nBe\n",
            "4:16",
            Code.BAD_VALUE,
            id="a long compatibility",
        ),
        pytest.param(SKILL.encode("utf-16"), "1:1", Code.NOT_TEXT, id="UTF-16"),
        pytest.param(SKILL + "\0", "7:1", Code.NOT_TEXT, id="a NUL"),
        pytest.param(
            SKILL + "a" * 100_001, "2:1", Code.SKILL_TOO_LARGE, id="more than may be loaded"
        ),
        pytest.param(SKILL + "a" * 1_000_001, "1:1", Code.FILE_TOO_LARGE, id="more than is read"),
    ],
)
def test_what_cannot_be_a_skill_is_told_at_its_place(
    text: str | bytes, place: str, code: Code, tmp_path: Path
) -> None:
    project = project_of(tmp_path, text)

    assert told(project.problems) == [f"{PLACE}:{place} {code}"]
    assert not project.is_sound
    assert "letters" not in project.registry.skills


def test_a_misspelt_key_is_one_problem_with_the_key_that_was_meant(tmp_path: Path) -> None:
    problem = only(project_of(tmp_path, SKILL.replace("description", "descripton")).problems)

    assert (problem.code, problem.line, problem.column) == (Code.UNKNOWN_KEY, 3, 1)
    assert problem.hint == "did you mean 'description'?"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_a_line_has_its_number_however_lines_end(line_break: str, tmp_path: Path) -> None:
    text = f"---\n{HEAD}version: 1\n---\nBe\n".replace("\n", line_break)

    problem = only(project_of(tmp_path, text).problems)

    assert (problem.line, problem.source_line) == (4, "version: 1")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param("license:\n", Code.NULL_VALUE, id="a licence without a value"),
        pytest.param("metadata:\n", Code.NULL_VALUE, id="metadata without a value"),
        pytest.param("allowed-tools:\n", Code.NULL_VALUE, id="no tool is allowed"),
    ],
)
def test_a_key_without_a_value_is_worth_a_warning(more: str, code: Code, tmp_path: Path) -> None:
    project = project_of(tmp_path, f"---\n{HEAD}{more}---\nBe brief.\n")

    assert letters(project).content == "Be brief."
    assert only(project.problems).code == code


def test_no_allowed_tool_is_not_any_tool(tmp_path: Path) -> None:
    project = project_of(tmp_path, f"---\n{HEAD}allowed-tools:\n---\nBe brief.\n")

    assert letters(project).allowed_tools == ()


def test_a_text_that_a_hash_cuts_off_is_told(tmp_path: Path) -> None:
    project = project_of(tmp_path, SKILL.replace("letters are", "letters #1 are"))

    assert letters(project).description == "How letters"
    problem = only(project.problems)
    assert (problem.code, problem.line, problem.column) == (Code.UNQUOTED_TEXT, 3, 14)


def test_a_skill_without_a_text_is_worth_a_warning(tmp_path: Path) -> None:
    project = project_of(tmp_path, f"---\n{HEAD}---\n")

    assert letters(project).content == ""
    assert only(project.problems).code == Code.EMPTY_SKILL


def test_a_large_text_is_worth_a_warning_with_numbers(tmp_path: Path) -> None:
    project = project_of(tmp_path, SKILL + "a" * 20_000)

    assert len(letters(project).content or "") == 20_010
    assert "20,010 bytes; it should have at most 20,000" in only(project.problems).message


def test_yaml_in_a_skill_defines_nothing(tmp_path: Path) -> None:
    files = {
        "agents/skills/letters/agent.yaml": "nonsense: [",
        "agents/skills/letters/deep/SKILL.md": "not one",
        "agents/helper.yaml": "name: helper\n",
    }

    project = project_of(tmp_path, SKILL, files)

    assert [file.path for file in letters(project).files] == ["agent.yaml", "deep/SKILL.md"]
    assert list(project.registry.agents) == ["helper"]


def test_hidden_files_and_links_are_no_files_of_a_skill(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "agents/skills/letters"
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "links").symlink_to(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")

    assert letters(project_of(tmp_path, SKILL)).files == ()


def test_the_lower_case_name_is_read_too(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/letters/skill.md": SKILL, "agents/letters/a.md": "a"})

    assert [file.path for file in letters(project).files] == ["a.md"]


def test_a_folder_called_like_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "agents" / "letters" / "SKILL.md").mkdir(parents=True)

    project = load(tmp_path, {"agents/a.yaml": "skills: [letters]\n"})

    assert told(project.problems) == [f"agents/letters/SKILL.md:1:1 {Code.UNREADABLE_FILE}"]


def test_files_without_a_name_to_write_down_or_too_deep_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "agents/skills/letters"
    deep = folder / "/".join("abcdefghijkl")
    deep.mkdir(parents=True)
    (deep / "deepest.md").write_text("a")
    (deep.parent.parent / "deep.md").write_text("a")
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("a")
    os.mkfifo(folder / "pipe")

    files = letters(project_of(tmp_path, SKILL)).files

    assert [file.path for file in files] == ["a/b/c/d/e/f/g/h/i/j/deep.md"]


def test_a_file_that_is_nearly_called_so_is_told(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/letters/Skill.md": SKILL})

    assert told(project.problems) == [f"agents/letters/Skill.md:1:1 {Code.BAD_FRONTMATTER}"]


def test_the_agents_folder_is_no_skill(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/SKILL.md": SKILL, "agents/helper.yaml": "name: helper\n"})

    assert told(project.problems) == [f"agents/SKILL.md:1:1 {Code.BAD_FRONTMATTER}"]
    assert list(project.registry.agents) == ["helper"]


def test_a_skill_that_leads_outside_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(SKILL)
    root = tmp_path / "project"
    (root / "agents" / "letters").mkdir(parents=True)
    (root / "agents" / "letters" / "SKILL.md").symlink_to(outside)

    project = load(root, {})

    assert told(project.problems) == [f"agents/letters/SKILL.md:1:1 {Code.PATH_OUTSIDE}"]


def test_more_files_than_can_be_read_are_told(tmp_path: Path) -> None:
    files = {f"agents/skills/letters/{number:03}.md": "a" for number in range(203)}

    project = project_of(tmp_path, SKILL, files)

    assert len(letters(project).files) == 200
    assert "3 files more than the 200" in only(project.problems).message


def test_a_file_too_large_to_be_read_is_listed_without_a_hash(tmp_path: Path) -> None:
    project = project_of(tmp_path, SKILL, {"agents/skills/letters/a.bin": b"a" * 1_000_001})

    assert [file.sha256 for file in letters(project).files] == [""]


def test_a_file_that_is_edited_or_added_is_noticed(tmp_path: Path) -> None:
    project = project_of(tmp_path, SKILL, {"agents/skills/letters/a.md": "a"})
    path = tmp_path / "agents/skills/letters"

    assert not project.has_changed()
    (path / "a.md").write_text("changed")
    assert project.has_changed()
    project = load(tmp_path, {})
    (path / "b.md").write_text("new")
    assert project.has_changed()
    project = load(tmp_path, {})
    (path / "SKILL.md").write_text(SKILL + "More.")
    assert project.has_changed()


def test_two_skills_of_one_name_are_told(tmp_path: Path) -> None:
    yaml = "kind: skill\nname: letters\ndescription: a\ncontent: b\n"

    project = project_of(tmp_path, SKILL, {"agents/a.yaml": yaml})

    assert told(project.problems) == [f"{PLACE}:2:7 {Code.DUPLICATE_DEFINITION}"]


def test_a_broken_skill_is_no_unknown_one(tmp_path: Path) -> None:
    project = project_of(tmp_path, "Be brief.", {"agents/a.yaml": "skills: [letters]\n"})

    assert told(project.problems) == [f"{PLACE}:1:1 {Code.BAD_FRONTMATTER}"]
