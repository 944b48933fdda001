"""The tools by which agents use skills."""

import hashlib
import json
from pathlib import Path

import pytest

from runner.core.errors import ToolError
from runner.core.jsonvalue import JsonObject
from runner.core.messages import ToolCall
from runner.core.tooling import Recovery, Tool
from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.skill import SkillFile
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import PythonTool
from runner.tools.results import returned
from runner.tools.skills import skill_tools
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, says
from tests.fakes.skills import make_skill
from tests.fakes.tools import tool_context

FOLDER = "agents/letters"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with the folder of a skill."""
    folder = tmp_path / "project" / FOLDER
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("one\ntwo\nthree\n")
    (folder / "deep" / "b.txt").write_text("deep")
    (folder / "image").write_bytes(b"\x89PNG\0")
    (folder / "latin").write_bytes("Grüße".encode("latin-1"))
    (folder / "large").write_bytes(b"a" * 1_000_001)
    (tmp_path / "project" / "secret").write_text("hunter2")
    return tmp_path / "project"


def listed(root: Path, *paths: str) -> tuple[SkillFile, ...]:
    return tuple(
        SkillFile(
            path=path,
            sha256=hashlib.sha256((root / FOLDER / path).read_bytes()).hexdigest(),
        )
        for path in paths
    )


def agent_with(*available: ResolvedSkill, always: tuple[ResolvedSkill, ...] = ()) -> ResolvedAgent:
    definition = make_agent(FakeClient(says("Hi."))).definition
    return definition.model_copy(update={"available_skills": available, "skills": always})


def tools_of(agent: ResolvedAgent, root: Path = Path()) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in skill_tools(agent, root)}


def reader(root: Path) -> Tool:
    files = listed(root, "a.md", "deep/b.txt", "image", "latin", "large")
    skill = make_skill("letters", folder=FOLDER, files=files)
    return tools_of(agent_with(skill), root)["read_skill_file"]


def read(root: Path, path: str, **more: int) -> JsonObject:
    arguments: JsonObject = {"skill": "letters", "path": path, **more}
    result = reader(root).invoke(arguments, tool_context())
    assert isinstance(result, dict)
    return result


def test_an_agent_has_the_tools_that_its_skills_need(root: Path) -> None:
    bare, filed = make_skill("a"), make_skill("b", folder=FOLDER, files=listed(root, "a.md"))

    assert set(tools_of(agent_with())) == set()
    assert set(tools_of(agent_with(always=(bare,)))) == set()
    assert set(tools_of(agent_with(bare))) == {"load_skill"}
    assert set(tools_of(agent_with(always=(filed,)))) == {"read_skill_file"}
    assert set(tools_of(agent_with(filed))) == {"load_skill", "read_skill_file"}


def test_loading_gives_the_text_and_names_what_comes_with_it(root: Path) -> None:
    hinted = PythonTool(name="look", python="m:f", usage_hint="Before you leap. ")
    skill = make_skill("letters", allowed=("save",), folder=FOLDER, files=listed(root, "a.md"))
    tool = tools_of(agent_with(skill.model_copy(update={"tools": (hinted,)})))["load_skill"]

    assert tool.invoke({"name": "letters"}, tool_context()) == {
        "skill": "letters",
        "text": "Be brief.",
        "tools": ["look"],
        "when_to_use_them": {"look": "Before you leap."},
        "only_these_other_tools": ["save"],
        "files": ["a.md"],
    }


def test_loading_a_plain_skill_gives_its_text_only() -> None:
    tool = tools_of(agent_with(make_skill("letters")))["load_skill"]

    assert tool.invoke({"name": "letters"}, tool_context()) == {
        "skill": "letters",
        "text": "Be brief.",
    }


def test_the_longest_text_is_given_whole() -> None:
    text = '"\n' * 50_000
    tool = tools_of(agent_with(make_skill("letters", text=text)))["load_skill"]
    call = ToolCall(call_id="1", name="load_skill", arguments={})

    value = tool.invoke({"name": "letters"}, tool_context())

    assert returned(call, value, tool.rules.max_result_chars).content["text"] == text


@pytest.mark.parametrize("arguments", [{}, {"name": "other"}, {"name": 3}, {"name": "a", "x": 1}])
def test_only_a_skill_that_is_available_can_be_loaded(arguments: JsonObject) -> None:
    tool = tools_of(agent_with(make_skill("a")))["load_skill"]

    assert tool.complaints(arguments)
    assert not tool.complaints({"name": "a"})


def test_both_tools_may_be_run_again(root: Path) -> None:
    skill = make_skill("a", folder=FOLDER, files=listed(root, "a.md"))

    rules = [tool.rules.recovery for tool in skill_tools(agent_with(skill), root)]

    assert rules == [Recovery.REPLAY_SAFE] * 2


def test_a_file_is_read_whole_or_some_of_its_lines(root: Path) -> None:
    assert read(root, "a.md") == {
        "skill": "letters", "path": "a.md", "lines": 3, "text": "one\ntwo\nthree"
    }  # fmt: skip
    assert read(root, "./a.md", offset=2, limit=1)["text"] == "two"
    assert read(root, "deep/b.txt")["text"] == "deep"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../../secret", "has no file"),
        ("/etc/passwd", "has no file"),
        ("deep/../a.md", "has no file"),
        ("SKILL.md", "has no file"),
        ("deep", "has no file"),
        ("", "has no file"),
        ("b.md", "did you mean 'a.md'?"),
        ("image", "is not text"),
        ("latin", "is not text"),
        ("large", "longer than the 1,000,000 bytes"),
    ],
)
def test_what_is_no_text_of_the_skill_is_refused(root: Path, path: str, said: str) -> None:
    with pytest.raises(ToolError, match=said.replace("?", r"\?")):
        read(root, path)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "links/secret", ".hidden"])
def test_a_snapshot_that_lists_more_leads_no_further(root: Path, path: str) -> None:
    (root / FOLDER / "link").symlink_to(root / "secret")
    (root / FOLDER / "links").symlink_to(root)
    (root / FOLDER / ".hidden").write_text("hunter2")
    file = SkillFile(path=path, sha256="")
    skill = make_skill("letters", folder=FOLDER, files=(file,))
    tool = tools_of(agent_with(skill), root)["read_skill_file"]

    with pytest.raises(ToolError):
        tool.invoke({"skill": "letters", "path": path}, tool_context())


def test_a_file_that_has_changed_is_read_as_it_is_now_and_says_so(root: Path) -> None:
    tool = reader(root)
    (root / FOLDER / "a.md").write_text("new")

    result = tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())

    assert isinstance(result, dict)
    assert (result["text"], result["changed_since_this_turn_began"]) == ("new", True)


def test_a_file_that_became_a_link_or_is_gone_is_not_read(root: Path) -> None:
    tool = reader(root)
    (root / FOLDER / "a.md").unlink()
    with pytest.raises(ToolError, match="does not exist"):
        tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())
    (root / FOLDER / "a.md").symlink_to(root / "secret")
    with pytest.raises(ToolError, match="symbolic link"):
        tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())
    (root / FOLDER / "a.md").unlink()
    (root / FOLDER / "a.md").mkdir()
    with pytest.raises(ToolError, match="is not a file"):
        tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())


def test_a_folder_that_became_a_link_or_is_gone_is_not_read(root: Path) -> None:
    tool = reader(root)
    (root / FOLDER).rename(root / "moved")
    with pytest.raises(ToolError, match="is not there any more"):
        tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())
    (root / FOLDER).symlink_to(root / "moved")
    with pytest.raises(ToolError, match="is not there any more"):
        tool.invoke({"skill": "letters", "path": "a.md"}, tool_context())


def test_an_empty_file_has_no_lines(root: Path) -> None:
    (root / FOLDER / "a.md").write_text("")

    assert read(root, "a.md")["lines"] == 0


def test_arguments_are_held_against_the_skills_with_files(root: Path) -> None:
    tool = reader(root)

    assert tool.complaints({"skill": "other", "path": "a.md"})
    assert tool.complaints({"skill": "letters"})
    assert not tool.complaints({"skill": "letters", "path": "a.md", "offset": 1})
    assert json.dumps(tool.spec.parameters)
