"""Skills in YAML, the agents that have them, and whether they go together."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.core.errors import NotFound
from runner.definitions.codes import Code
from runner.definitions.problem import Severity
from runner.definitions.project import Project
from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.snapshot import ResolvedAgent, resolve
from runner.definitions.tool import LaunchAgentTool
from tests.unit.definitions.projects import load, only, told
from tests.unit.definitions.skills import PLACE, SKILL

A = "agents/a.yaml"
READER = "kind: tool\nname: reader\nbuiltin: read_file\n"
REVIEW = (
    "kind: skill\nname: review\ndescription: How to review.\ncontent: Look twice.\n"
    "tools: [reader, {name: notes, builtin: read_file}]\n"
)


def project(root: Path, agent: str, *skills: str, config: str = "") -> Project:
    """A project with an agent `a`, the tool `reader`, the folder `letters` and some skills."""
    files: dict[str, str | bytes] = {
        "config.yaml": config,
        A: agent,
        "agents/reader.yaml": READER,
        PLACE: SKILL,
    }
    files |= {f"agents/skill_{number}.yaml": text for number, text in enumerate(skills)}
    return load(root, files)


def resolved(root: Path, agent: str, *skills: str, config: str = "") -> ResolvedAgent:
    found = project(root, agent, *skills, config=config)
    found.ensure_sound()
    return resolve(found, "a")


def names(skills: tuple[ResolvedSkill, ...]) -> list[str]:
    return [skill.name for skill in skills]


def errors(found: Project) -> list[str]:
    return told(tuple(problem for problem in found.problems if problem.is_error))


def test_an_agent_has_its_skills_whole(tmp_path: Path) -> None:
    agent = resolved(
        tmp_path,
        "skills: [letters]\navailable_skills: [review, {name: c, description: d, content: e}]\n",
        REVIEW,
    )

    assert names(agent.skills) == ["letters"]
    assert (agent.skills[0].text, agent.skills[0].folder) == ("Be brief.", "agents/skills/letters")
    assert names(agent.available_skills) == ["review", "c"]
    review, inline = agent.available_skills
    assert (review.text, [tool.name for tool in review.tools]) == (
        "Look twice.",
        ["reader", "notes"],
    )
    assert (inline.description, inline.text, inline.allowed_tools) == ("d", "e", None)


def test_a_snapshot_with_skills_is_read_back_as_it_was(tmp_path: Path) -> None:
    agent = resolved(tmp_path, "skills: [letters]\navailable_skills: [review]\n", REVIEW)

    again = ResolvedAgent.from_canonical(agent.canonical())

    assert again == agent
    assert again.content_hash() == agent.content_hash()


def test_the_text_may_be_in_a_file(tmp_path: Path) -> None:
    skill = "kind: skill\nname: b\ndescription: c\ncontent_file: texts/b.md\n"
    files: Mapping[str, str | bytes] = {
        A: "skills: [b]\n",
        "agents/b.yaml": skill,
        "agents/texts/b.md": "From a file.\n",
    }

    found = load(tmp_path, files)

    assert resolve(found, "a").skills[0].text == "From a file."
    (tmp_path / "agents/texts/b.md").write_text("Edited.")
    assert found.has_changed()


@pytest.mark.parametrize(
    ("skill", "problems"),
    [
        ("description: c\n", ["1:1 missing-key"]),
        ("description: c\ncontent: a\ncontent_file: b.md\n", ["4:1 key-conflict"]),
        ("description: c\ncontent_file: b.md\n", ["3:15 missing-file"]),
        ("description: c\ncontent_file: skill_0.yaml\n", ["3:15 recursive-file"]),
        ("description: c\ncontent_file: ../../etc/passwd\n", ["3:15 path-outside"]),
        ("content: a\n", ["1:1 missing-key"]),
        ("description: ''\ncontent: a\n", ["2:14 bad-value"]),
        ("description: c\ncontent: a\ntools: [nope]\n", ["4:9 unknown-tool"]),
        ("description: c\ncontent: a\ntools: [reader, reader]\n", ["4:17 duplicate-tool"]),
        ("description: c\ncontent: a\ntools: [letters]\n", ["4:9 unknown-tool"]),
        ("description: c\ncontent: a\nlicens: a\n", ["4:1 unknown-key"]),
        ("description: c\ncontent: a\nallowed_tools: ['']\n", ["4:17 bad-value"]),
        ("description: c\ncontent: a\ntools: [load_skill]\n", ["4:9 unknown-tool"]),
        (
            "description: c\ncontent: a\ntools: [{name: load_skill, builtin: read_file}]\n",
            ["4:16 reserved-name"],
        ),
        (f"description: c\ncontent: {'a' * 100_001}\n", ["3:10 skill-too-large"]),
    ],
)
def test_what_is_wrong_in_a_skill_is_told_at_its_place(
    skill: str, problems: list[str], tmp_path: Path
) -> None:
    found = project(tmp_path, "description: d\n", f"kind: skill\n{skill}")

    assert errors(found) == [f"agents/skill_0.yaml:{problem}" for problem in problems]


def test_a_skill_is_recognised_without_its_kind(tmp_path: Path) -> None:
    found = project(tmp_path, "description: d\n", "name: b\ndescription: c\ncontent: d\n")

    assert only(found.problems).hint == "add 'kind: skill'"


@pytest.mark.parametrize(
    ("agent", "place", "code", "hint"),
    [
        ("skills: [leters]\n", "1:10", Code.UNKNOWN_SKILL, "did you mean 'letters'?"),
        ("available_skills: [x9]\n", "1:20", Code.UNKNOWN_SKILL, "runner new skill"),
        ("skills: [reader]\n", "1:10", Code.UNKNOWN_SKILL, "it is a tool"),
        ("tools: [letters]\n", "1:9", Code.UNKNOWN_TOOL, "it is a skill"),
        ("tools: [load_skill]\n", "1:9", Code.UNKNOWN_TOOL, "by itself"),
        ("skills: [letters, letters]\n", "1:19", Code.DUPLICATE_SKILL, ""),
        ("skills: [letters]\navailable_skills: [letters]\n", "2:20", Code.DUPLICATE_SKILL, ""),
        ("skills: [{name: b, description: c}]\n", "1:10", Code.MISSING_KEY, ""),
        ("skills: letters\n", "1:9", Code.WRONG_TYPE, "[ ]"),
        (
            "sub_agents: [{name: load_skill, description: c}]\n",
            "1:14",
            Code.RESERVED_NAME,
            "",
        ),
        ("prompt: {sections: [skils]}\n", "1:21", Code.BAD_VALUE, "did you mean 'skills'?"),
        ("prompt: {sections: [task, task]}\n", "1:27", Code.BAD_VALUE, ""),
        (
            "sub_agents: [{name: b, description: c, skills: [leters]}]\n",
            "1:49",
            Code.UNKNOWN_SKILL,
            "letters",
        ),
    ],
)
def test_what_is_wrong_with_an_agent_s_skills_is_told(
    agent: str, place: str, code: Code, hint: str, tmp_path: Path
) -> None:
    problem = only(project(tmp_path, agent).problems)

    assert (str(problem.location), problem.code) == (f"{A}:{place}", code)
    assert hint in problem.hint


@pytest.mark.parametrize("key", ["skills", "available_skills"])
@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("tools: [reader]\n", "the tool 'reader', which the agent has already"),
        ("tools: [{name: notes, builtin: read_file}]\n", "the tool 'notes', which the agent has"),
        ("sub_agents: [{name: notes, description: c}]\n", "the tool 'notes', which the agent has"),
    ],
)
def test_a_skill_brings_no_tool_that_the_agent_has(
    key: str, agent: str, message: str, tmp_path: Path
) -> None:
    problem = only(project(tmp_path, f"{key}: [review]\n{agent}", REVIEW).problems)

    assert (problem.code, problem.line) == (Code.DUPLICATE_TOOL, 1)
    assert message in problem.message


def test_skills_may_share_a_tool_but_not_its_name_alone(tmp_path: Path) -> None:
    shared = "kind: skill\nname: b\ndescription: c\ncontent: d\ntools: [reader]\n"
    other = shared.replace("[reader]", "[{name: reader, builtin: read_file}]")
    agent = "skills: [b]\navailable_skills: [review]\n"

    assert errors(project(tmp_path / "1", agent, REVIEW, shared)) == []
    problem = only(project(tmp_path / "2", agent, REVIEW, other).problems)

    assert problem.code == Code.DUPLICATE_TOOL
    assert "the skill 'b' another one of that name" in problem.message


def test_limits_may_name_the_tools_of_skills(tmp_path: Path) -> None:
    agent = (
        "available_skills: [review]\n"
        "limits: {max_tool_executions_by_name: {notes: 1, load_skill: 2, read_skill_file: 3}}\n"
    )

    assert project(tmp_path, agent, REVIEW).problems == ()


def test_the_config_gives_skills_to_every_agent_that_inherits(tmp_path: Path) -> None:
    config = "skills: [letters, {name: b, description: c, content: d}]\n"
    agent = "skills: [review, letters]\nsub_agents: [{name: s}, {name: t, inherit: false}]\n"

    found = resolved(tmp_path, agent, REVIEW, config=config)

    assert names(found.skills) == ["letters", "b", "review"]
    inheriting, not_inheriting = [sub.definition for sub in found.sub_agents]
    assert inheriting is not None
    assert not_inheriting is not None
    assert names(inheriting.skills) == ["letters", "b"]
    assert names(not_inheriting.skills) == []


@pytest.mark.parametrize(
    "config",
    ["skills: [letters]\n", "skills: [{name: letters, description: c, content: d}]\n"],
)
def test_a_skill_of_the_config_hides_none_of_an_agent(config: str, tmp_path: Path) -> None:
    agent = "available_skills: [{name: letters, description: c, content: other}]\n"

    problem = only(project(tmp_path, agent, config=config).problems)

    assert (str(problem.location), problem.code) == (f"{A}:1:20", Code.DUPLICATE_SKILL)


def test_what_is_always_there_need_not_be_loaded(tmp_path: Path) -> None:
    found = resolved(tmp_path, "available_skills: [letters]\n", config="skills: [letters]\n")

    assert (names(found.skills), names(found.available_skills)) == (["letters"], [])


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("skills: [leters]\n", "1:10 unknown-skill"),
        ("skills: [letters, letters]\n", "1:19 duplicate-skill"),
        ("skills: [{name: b, description: c, content_file: x}]\n", "1:50 missing-file"),
        ("skills: [{name: b, description: c, content: d, tools: [x]}]\n", "1:56 unknown-tool"),
        ("skills: [x]\nskils: 1\n", "2:1 unknown-key"),
    ],
)
def test_what_is_wrong_with_the_skills_of_a_config_is_told(
    config: str, place: str, tmp_path: Path
) -> None:
    found = project(tmp_path, "description: d\n", config=config)

    assert f"config.yaml:{place}" in told(found.problems)
    assert not found.is_sound


def test_a_skill_of_the_config_whose_tool_an_agent_has_is_told_there(tmp_path: Path) -> None:
    found = project(
        tmp_path, "description: d\ntools: [reader]\n", REVIEW, config="skills: [review]\n"
    )

    assert told(found.problems) == [f"{A}:1:1 duplicate-tool"]


def test_the_file_of_a_skill_in_the_config_is_watched(tmp_path: Path) -> None:
    config = "skills: [{name: b, description: c, content_file: b.md}]\n"
    (tmp_path / "b.md").write_text("One.")
    found = project(tmp_path, "description: d\n", config=config)

    assert resolve(found, "a").skills[0].text == "One."
    (tmp_path / "b.md").write_text("Another.")
    assert found.has_changed()


@pytest.mark.parametrize(
    ("count", "severity", "said"),
    [
        (3, Severity.WARNING, "57,000 bytes, more than 50,000"),
        (11, Severity.ERROR, "209,000 bytes, 200,000 are allowed"),
    ],
)
def test_all_texts_together_have_a_budget(
    count: int, severity: Severity, said: str, tmp_path: Path
) -> None:
    skills = [
        f"kind: skill\nname: s{number}\ndescription: c\ncontent: {'a' * 19_000}\n"
        for number in range(count)
    ]
    listed = ", ".join(f"s{number}" for number in range(count))

    problem = only(project(tmp_path, f"skills: [{listed}]\n", *skills).problems)

    assert (problem.code, problem.severity) == (Code.SKILL_TOO_LARGE, severity)
    assert said in problem.message


@pytest.mark.parametrize(
    ("agent", "config", "why"),
    [
        ("system_prompt: x\n", "", "system_prompt"),
        ("prompt: {mode: none}\n", "", "prompt.mode is none"),
        ("prompt: {sections: [agent]}\n", "", "prompt.sections leaves 'skills' out"),
        ("description: c\n", "defaults: {prompt: {mode: none}}\n", "prompt.mode is none"),
    ],
)
def test_skills_that_nobody_reads_are_worth_a_warning(
    agent: str, config: str, why: str, tmp_path: Path
) -> None:
    found = project(tmp_path, f"skills: [letters]\n{agent}", config=config)

    problem = only(found.problems)
    assert (problem.code, problem.severity) == (Code.SKILL_NOT_SHOWN, Severity.WARNING)
    assert why in problem.message


@pytest.mark.parametrize(
    "agent", ["prompt: {sections: [skills]}\n", "prompt: {mode: minimal}\n", "description: c\n"]
)
def test_skills_that_are_read_are_not(agent: str, tmp_path: Path) -> None:
    assert project(tmp_path, f"skills: [letters]\n{agent}").problems == ()


def strict(allowed: str) -> str:
    return f"kind: skill\nname: b\ndescription: c\ncontent: d\nallowed_tools: {allowed}\n"


@pytest.mark.parametrize(
    ("agent", "allowed", "said"),
    [
        ("skills: [b]\n", "[Read]", "rule out, always: reader, wait_for"),
        ("skills: [b]\n", "[reader]", "rule out, always: wait_for"),
        ("skills: [b]\n", "[reader, wait_for]", ""),
        ("available_skills: [b]\n", "[Read]", "rule out, once it is loaded: reader, wait_for"),
        ("available_skills: [b]\n", "[reader]", ""),
    ],
)
def test_tools_that_a_skill_rules_out_are_worth_a_warning(
    agent: str, allowed: str, said: str, tmp_path: Path
) -> None:
    found = project(tmp_path, f"{agent}tools: [reader, wait_for]\n", strict(allowed))

    if not said:
        assert found.problems == ()
        return
    problem = only(found.problems)
    assert (problem.code, problem.severity) == (Code.TOOLS_RULED_OUT, Severity.WARNING)
    assert said in problem.message


def test_a_skill_may_bring_a_tool_that_starts_agents(tmp_path: Path) -> None:
    skill = REVIEW.replace("reader, ", "{name: hire, builtin: launch_agent, agents: [other]}, ")
    files: Mapping[str, str | bytes] = {
        A: "available_skills: [review]\n",
        "agents/other.yaml": "description: Helps.\n",
        "agents/review.yaml": skill,
    }

    found = load(tmp_path, files)
    found.ensure_sound()
    agent = resolve(found, "a")

    assert isinstance(agent.available_skills[0].tools[0], LaunchAgentTool)
    assert [other.name for other in agent.launchable] == ["other"]


def test_a_skill_brings_no_tool_that_has_nothing_to_start(tmp_path: Path) -> None:
    skill = REVIEW.replace("reader, ", "launch_agent, ")

    agent = resolved(tmp_path, "skills: [review]\n", skill)

    assert [tool.name for tool in agent.skills[0].tools] == ["notes"]


def test_a_loop_through_the_tool_of_a_skill_is_worth_a_warning(tmp_path: Path) -> None:
    skill = REVIEW.replace("reader, ", "{name: hire, builtin: launch_agent, agents: [a]}, ")

    problem = only(project(tmp_path, "available_skills: [review]\n", skill).problems)

    assert (str(problem.location), problem.code) == (f"{A}:1:20", Code.AGENT_LOOP)


def test_each_key_of_the_prompt_is_inherited_by_itself(tmp_path: Path) -> None:
    config = "defaults: {prompt: {mode: task, sections: [agent]}}\n"

    own = resolved(tmp_path / "1", "prompt: {sections: []}\n", config=config)
    other = resolved(tmp_path / "2", "prompt: {mode: full}\norchestrator: true\n", config=config)

    assert (own.prompt_mode, own.prompt_sections, own.orchestrator) == ("task", (), False)
    assert (other.prompt_mode, other.prompt_sections) == ("full", ("agent",))
    assert other.orchestrator


def test_the_registry_finds_a_skill_by_its_name(tmp_path: Path) -> None:
    registry = project(tmp_path, "description: d\n", REVIEW).registry

    assert registry.get("skill", "review").name == "review"
    with pytest.raises(NotFound, match="no skill named 'reviw'; did you mean 'review'"):
        registry.skill("reviw")
