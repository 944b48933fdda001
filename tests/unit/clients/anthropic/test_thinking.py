import pytest

from runner.clients.anthropic.models import ThinkingModes, traits_of
from runner.clients.anthropic.thinking import ThinkingFields, thinking_fields
from runner.core.model import Effort, ThinkingSetting

ADAPTIVE = ThinkingFields(thinking={"type": "adaptive"})
OFF = ThinkingSetting(off=True)


def fields(model: str, setting: ThinkingSetting | None, max_tokens: int = 10_000) -> ThinkingFields:
    return thinking_fields(model, setting, max_tokens=max_tokens)


def adaptive(effort: Effort) -> ThinkingFields:
    return ThinkingFields(thinking={"type": "adaptive"}, effort=effort)


def enabled(budget: int) -> ThinkingFields:
    return ThinkingFields(thinking={"type": "enabled", "budget_tokens": budget})


@pytest.mark.parametrize(
    ("model", "modes"),
    [
        ("claude-fable-5-2", ThinkingModes.ALWAYS),
        ("claude-mythos-5-1", ThinkingModes.ALWAYS),
        ("claude-opus-5-5", ThinkingModes.ALWAYS),
        ("claude-opus-5", ThinkingModes.ADAPTIVE),
        ("claude-sonnet-5-5-20260901", ThinkingModes.BETWEEN_TOOLS),
        ("claude-sonnet-5-20260301", ThinkingModes.ADAPTIVE),
        ("claude-haiku-5-5", ThinkingModes.ADAPTIVE),
        ("claude-opus-4-8", ThinkingModes.ADAPTIVE),
        ("claude-opus-4-7", ThinkingModes.ADAPTIVE),
        ("anthropic.claude-sonnet-4-6-v1:0", ThinkingModes.ALL),
        ("claude-opus-4-6", ThinkingModes.ALL),
        ("claude-haiku-4-5-20251001", ThinkingModes.BUDGET),
        ("claude-sonnet-7", ThinkingModes.ALWAYS),
        ("somebody-elses-model", ThinkingModes.ALWAYS),
    ],
)
def test_a_model_is_known_by_its_id(model: str, modes: ThinkingModes) -> None:
    assert traits_of(model).thinking is modes


def test_only_claude_is_taken_to_have_structured_output() -> None:
    assert traits_of("claude-sonnet-7").structured_output
    assert not traits_of("somebody-elses-model").structured_output


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5", "unheard-of"])
def test_without_a_setting_the_model_keeps_its_default(model: str) -> None:
    assert fields(model, None) == ThinkingFields()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        pytest.param("claude-opus-5-5", adaptive(Effort.LOW), id="one-that-cannot-thinks-least"),
        pytest.param("unheard-of", adaptive(Effort.LOW), id="so-does-an-unknown-one"),
        pytest.param(
            "claude-sonnet-5-5",
            ThinkingFields(thinking={"type": "between_tools"}),
            id="its-lowest-setting",
        ),
        pytest.param(
            "claude-opus-5", ThinkingFields(thinking={"type": "disabled"}), id="turned-off"
        ),
        pytest.param(
            "claude-opus-4-6", ThinkingFields(thinking={"type": "disabled"}), id="turned-off-too"
        ),
        pytest.param("claude-sonnet-4-5", ThinkingFields(), id="off-by-default"),
    ],
)
def test_off_is_said_as_each_model_takes_it(model: str, said: ThinkingFields) -> None:
    assert fields(model, OFF) == said


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-6"])
def test_an_effort_is_adaptive_thinking(model: str) -> None:
    assert fields(model, ThinkingSetting()) == ADAPTIVE
    assert fields(model, ThinkingSetting(effort=Effort.MAX)) == adaptive(Effort.MAX)


def test_an_effort_becomes_a_budget_where_only_budgets_are_known() -> None:
    assert fields("claude-haiku-4-5", ThinkingSetting(effort=Effort.HIGH)) == enabled(6000)
    assert fields("claude-haiku-4-5", ThinkingSetting()) == enabled(4000)


@pytest.mark.parametrize(
    ("budget", "effort"),
    [(2_000, Effort.LOW), (16_000, Effort.MEDIUM), (30_000, Effort.HIGH), (90_000, Effort.XHIGH)],
)
def test_a_budget_becomes_an_effort_where_there_are_no_budgets(budget: int, effort: Effort) -> None:
    assert fields("claude-opus-5", ThinkingSetting(budget_tokens=budget)) == adaptive(effort)


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-4-5"])
def test_a_budget_stays_within_what_the_api_takes(model: str) -> None:
    assert fields(model, ThinkingSetting(budget_tokens=3000)) == enabled(3000)
    assert fields(model, ThinkingSetting(budget_tokens=3000), 2000) == enabled(1999)
    assert fields(model, ThinkingSetting(budget_tokens=3000), 1024) == ThinkingFields()
