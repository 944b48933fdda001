from collections.abc import Collection

import pytest

from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import PythonTool
from runner.runtime.skills import file_objection, objection
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, says
from tests.fakes.skills import make_skill


def make_definition(**changes: object) -> ResolvedAgent:
    tools = (PythonTool(name="look", python="m:f"), PythonTool(name="save", python="m:f"))
    definition = make_agent(FakeClient(says("Hi."))).definition
    return definition.model_copy(update={"tools": tools, **changes})


LOADABLE = make_definition(available_skills=(make_skill("a", "act"), make_skill("b", "act", "go")))
STRICT = make_definition(
    skills=(make_skill("s", "own", allowed=("look", "act")),),
    available_skills=(make_skill("a", "act", allowed=("save",)), make_skill("e", allowed=())),
)


@pytest.mark.parametrize(
    ("loaded", "tool", "said"),
    [
        pytest.param((), "look", None, id="the agent's own"),
        pytest.param((), "act", "belongs to the skill 'a'", id="not loaded"),
        pytest.param((), "go", "call load_skill with the name 'b' first", id="of another"),
        pytest.param(("b",), "act", None, id="one of two that have it is enough"),
        pytest.param(("a",), "go", "belongs to the skill 'b'", id="another one is loaded"),
        pytest.param((), "load_skill", None, id="loading"),
        pytest.param((), "read_skill_file", None, id="reading"),
    ],
)
def test_a_tool_of_a_skill_needs_it_loaded(
    loaded: Collection[str], tool: str, said: str | None
) -> None:
    told = objection(LOADABLE, loaded, tool)

    assert (told is None) == (said is None)
    assert (said or "") in (told or "")


@pytest.mark.parametrize(
    ("loaded", "tool", "said"),
    [
        pytest.param((), "look", None, id="allowed"),
        pytest.param((), "own", None, id="the skill's own"),
        pytest.param((), "save", "the skill 's' is in force, it allows own, look, act", id="not"),
        pytest.param((), "load_skill", None, id="loading is always there"),
        pytest.param(("a",), "look", "the skill 'a' is in force", id="by one and not the other"),
        pytest.param(("a",), "save", "the skill 's' is in force", id="loading allows nothing"),
        pytest.param(("a",), "act", None, id="its own, and allowed by the other"),
        pytest.param(("a",), "own", "the skill 'a' is in force", id="another's own"),
        pytest.param(("e",), "look", "it allows no tool, and not 'look'", id="an empty list"),
    ],
)
def test_a_skill_in_force_takes_tools_away_and_gives_none(
    loaded: Collection[str], tool: str, said: str | None
) -> None:
    told = objection(STRICT, loaded, tool)

    assert (told is None) == (said is None)
    assert (said or "") in (told or "")


def test_files_can_be_read_once_the_skill_is_loaded() -> None:
    assert file_objection(STRICT, (), "s") is None
    assert "call load_skill" in (file_objection(STRICT, (), "a") or "")
    assert file_objection(STRICT, ("a",), "a") is None
    assert file_objection(STRICT, (), "unknown") is None
