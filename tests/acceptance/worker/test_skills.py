"""A skill that a worker loaded, and that another one goes on with."""

from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.test_kills import kill_while_it_acts
from tests.acceptance.worker.workers import working

SKILL = """\
kind: skill
name: carving
description: How things are carved.
content: Hold the knife away from you.
tools:
  - {name: carve, description: Carves., python: "effects:act", recovery: replay_safe}
"""
FOLDER = "---\nname: house-style\ndescription: How we write.\n---\n\nBe brief; see notes.md.\n"
AGENT = "name: carver\ndescription: Carves.\navailable_skills: [carving, house-style]\n"
ANSWERS = """
- agent: carver
  answers:
    - tool_calls:
        - {name: carve, arguments: {name: early}}
        - {name: load_skill, arguments: {name: carving}}
        - {name: load_skill, arguments: {name: house-style}}
    - tool_calls: [{name: carve, arguments: {name: a}}]
    - tool_calls:
        - {name: carve, arguments: {name: b}}
        - {name: read_skill_file, arguments: {skill: house-style, path: notes.md}}
    - text: done
"""


def add_skills(project: Project) -> None:
    """Give the project an agent that can load two skills."""
    agents = project.root / "agents"
    (agents / "house-style").mkdir()
    (agents / "house-style" / "SKILL.md").write_text(FOLDER)
    (agents / "house-style" / "notes.md").write_text("Use short words.")
    (agents / "carving.yaml").write_text(SKILL)
    (agents / "carver.yaml").write_text(AGENT)
    answers = project.root / "answers.yaml"
    answers.write_text(ANSWERS.lstrip() + answers.read_text())


def test_a_loaded_skill_s_tools_still_work_after_the_worker_was_killed(project: Project) -> None:
    add_skills(project)
    turn = project.runner.submit("carver", "Carve.")

    kill_while_it_acts(project, "a")
    # The turn goes on with the skills that it began with.
    (project.root / "agents" / "carving.yaml").unlink()
    (project.root / "agents" / "carver.yaml").write_text("name: carver\ndescription: Rests.\n")
    kill_while_it_acts(project, "b")
    with working(project):
        ended = project.runner.wait(turn.id)

    assert (ended.status, ended.result) == (TurnStatus.COMPLETED, "done")
    assert project.outcomes(turn.id) == [
        ExecutionStatus.REFUSED,
        *[ExecutionStatus.COMPLETED] * 5,
    ]
    assert project.count("begin", "early") == 0
    assert project.count("end", "a") == project.count("end", "b") == 1
    assert project.events(turn.id, "model.responded") == 4
