from pathlib import Path

import pytest

from runner.definitions.codes import Code
from runner.definitions.problem import Severity
from runner.definitions.snapshot import resolve
from tests.unit.definitions.projects import load, only, told


def ways(root: Path, *agents: str) -> list[str]:
    """What is told of agents in files of one line, named from `a`."""
    files: dict[str, str | bytes] = {
        f"agents/{chr(ord('a') + number)}.yaml": text for number, text in enumerate(agents)
    }
    problems = load(root, files).problems
    assert all(problem.code is Code.AGENT_LOOP for problem in problems), told(problems)
    return [f"{one.path[7]}:{one.column} {one.message.partition(': ')[2]}" for one in problems]


def test_an_agent_that_can_reach_itself_is_a_warning_that_shows_the_way(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "agents/a.yaml": "sub_agents: [b]\n",
        "agents/b.yaml": "tools: []\nsub_agents: [c]\n",
        "agents/c.yaml": "sub_agents: [d, a]\n",
        "agents/d.yaml": "name: d\n",
    }

    project = load(tmp_path, files)

    problem = only(project.problems)
    assert (problem.code, problem.severity) == (Code.AGENT_LOOP, Severity.WARNING)
    assert str(problem.location) == "agents/c.yaml:1:17"
    assert problem.message == "an agent can reach itself: a → b → c → a"
    assert project.is_sound
    assert [sub.name for sub in resolve(project, "c").sub_agents] == ["d", "a"]


@pytest.mark.parametrize(
    ("agents", "told_of"),
    [
        pytest.param(["sub_agents: [a]\n"], ["a:14 a → a"], id="itself"),
        pytest.param(
            ["sub_agents: [b]\n", "sub_agents: [a, b]\n"],
            ["b:14 a → b → a", "b:17 b → b"],
            id="two circles, each once",
        ),
        pytest.param(
            ["sub_agents: [b, c]\n", "sub_agents: [d]\n", "sub_agents: [d]\n", "name: d\n"],
            [],
            id="two ways to one agent",
        ),
        pytest.param(
            ["sub_agents: [b, c]\n", "sub_agents: [d]\n", "sub_agents: [d]\n", "sub_agents: [d]\n"],
            ["d:14 d → d"],
            id="a circle that two ways lead to",
        ),
        pytest.param(
            ["sub_agents: [{name: x, sub_agents: [b]}]\n", "sub_agents: [a]\n"],
            ["b:14 a → x → b → a"],
            id="through an agent that is written in another",
        ),
        pytest.param(
            [
                "sub_agents: [b]\n",
                "sub_agents: [{name: x, sub_agents: [{name: y, tools: [], sub_agents: [a]}]}]\n",
            ],
            ["b:71 a → b → x → y → a"],
            id="written two levels deep",
        ),
        pytest.param(
            ["tools: [{name: t, builtin: launch_agent, agents: [a]}]\n"],
            ["a:9 a → a"],
            id="through a tool that launches",
        ),
        pytest.param(
            [
                "tools: [c, wait_for]\n",
                "sub_agents: [a]\n",
                "kind: tool\nbuiltin: launch_agent\nagents: [b]\n",
            ],
            ["b:14 a → b → a"],
            id="through a tool with a file",
        ),
    ],
)
def test_every_circle_is_told_where_it_closes(
    agents: list[str], told_of: list[str], tmp_path: Path
) -> None:
    assert ways(tmp_path, *agents) == told_of


@pytest.mark.parametrize(
    ("letters", "told_of"),
    [
        ("bcdefga", "g:14 a → b → c → d → e → f → g → a"),
        ("bcdefgha", "h:14 a → b → c → d → … → f → g → h → a"),
        ("bcdefghijka", "k:14 a → b → c → d → … → i → j → k → a"),
    ],
)
def test_a_way_of_more_than_eight_names_is_shown_without_its_middle(
    letters: str, told_of: str, tmp_path: Path
) -> None:
    assert ways(tmp_path, *(f"sub_agents: [{letter}]\n" for letter in letters)) == [told_of]


def test_the_second_of_two_agents_with_one_name_is_not_looked_at(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "agents/a.yaml": "sub_agents: [a]\n",
        "agents/b.yaml": "name: a\nsub_agents: [a]\n",
    }

    assert told(load(tmp_path, files).problems) == [
        "agents/a.yaml:1:14 agent-loop",
        "agents/b.yaml:1:7 duplicate-definition",
    ]


def test_two_thousand_agents_in_a_row_can_be_looked_at(tmp_path: Path) -> None:
    chain = "---\n".join(f"name: a{n}\nsub_agents: [a{n + 1}]\n" for n in range(2000))

    project = load(tmp_path, {"agents/chain.yaml": f"{chain}---\nname: a2000\n"})

    assert project.problems == ()
