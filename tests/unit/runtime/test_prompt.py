import json

import pytest

from runner.core.model import ToolSpec
from runner.core.records import TurnKind
from runner.definitions.agent import PromptMode
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import PythonTool
from runner.runtime.agent import Agent
from runner.runtime.prompt import build_prompt
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, says

DEFINITION = make_agent(FakeClient(says("Hi."))).definition
TASK, CHAT = TurnKind.TASK, TurnKind.CHAT


def names(definition: ResolvedAgent, kind: TurnKind) -> list[str]:
    return [section.name for section in build_prompt(definition, kind, ()).sections]


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        pytest.param(
            None, TASK, ["agent", "instructions", "behaviour", "task"], id="a-task-is-told-so"
        ),
        pytest.param(
            None, CHAT, ["agent", "instructions", "behaviour", "chat"], id="a-chat-is-told-so"
        ),
        pytest.param(
            "task", CHAT, ["agent", "instructions", "behaviour", "task"], id="the-agent-decides"
        ),
        pytest.param(
            "full", TASK, ["agent", "instructions", "behaviour", "task"], id="full-keeps-the-task"
        ),
        pytest.param("minimal", TASK, ["agent", "instructions"], id="minimal"),
        pytest.param("none", TASK, [], id="none"),
    ],
)
def test_the_mode_chooses_the_sections(
    mode: PromptMode | None, kind: TurnKind, expected: list[str]
) -> None:
    assert names(DEFINITION.model_copy(update={"prompt_mode": mode}), kind) == expected


def test_a_system_prompt_replaces_all_sections() -> None:
    definition = DEFINITION.model_copy(update={"system_prompt": " Only this. "})

    assert build_prompt(definition, TASK, ()).text == "Only this."


def test_an_agent_that_says_nothing_of_itself_has_a_short_prompt() -> None:
    definition = DEFINITION.model_copy(update={"description": "", "instructions": " "})

    assert names(definition, TASK) == ["agent", "behaviour", "task"]
    assert build_prompt(definition, TASK, ()).sections[0].text == "You are the agent tester."


def test_hints_say_when_to_use_a_tool() -> None:
    tool = PythonTool(name="look", python="m:look", usage_hint="Before you leap.")
    definition = DEFINITION.model_copy(update={"tools": (tool,)})

    prompt = build_prompt(definition, TASK, ())

    assert "- look: Before you leap." in prompt.text
    assert "tool_hints" in names(definition, TASK)


def test_the_prefix_tells_prompts_and_tools_apart() -> None:
    tool = ToolSpec(name="look", description="Looks.", parameters={})

    prefixes = {
        build_prompt(DEFINITION, TASK, ()).prefix,
        build_prompt(DEFINITION, CHAT, ()).prefix,
        build_prompt(DEFINITION, TASK, (tool,)).prefix,
    }

    assert len(prefixes) == 3
    assert build_prompt(DEFINITION, TASK, ()).prefix in prefixes


@pytest.mark.parametrize(
    ("thinking", "effort", "budget", "off"),
    [
        pytest.param({"effort": "high"}, "high", None, False, id="effort"),
        pytest.param({"budget": 2048}, None, 2048, False, id="budget"),
        pytest.param("off", None, None, True, id="off"),
        pytest.param("adaptive", None, None, False, id="adaptive"),
    ],
)
def test_thinking_is_what_the_definition_says(
    thinking: object, effort: str | None, budget: int | None, *, off: bool
) -> None:
    text = DEFINITION.model_dump(mode="json") | {"thinking": thinking}
    agent = Agent.of(
        ResolvedAgent.model_validate_json(json.dumps(text)), client=FakeClient(), tools={}
    )

    setting = agent.thinking

    assert setting is not None
    assert (setting.effort, setting.budget_tokens, setting.off) == (effort, budget, off)


def test_an_agent_that_does_not_speak_of_thinking_leaves_it_to_the_model() -> None:
    assert make_agent(FakeClient(says("Hi."))).thinking is None
