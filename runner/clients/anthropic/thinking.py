"""From how a model may think to what its API is told."""

from dataclasses import dataclass
from typing import Final

from runner.clients.anthropic.models import ThinkingModes, traits_of
from runner.core.jsonvalue import JsonObject
from runner.core.model import Effort, ThinkingSetting

_ADAPTIVE: Final[JsonObject] = {"type": "adaptive"}
_DISABLED: Final[JsonObject] = {"type": "disabled"}
_SMALLEST_BUDGET: Final = 1024

#: Which part of the output an effort may spend on thinking, where only budgets are known.
_SHARES: Final = (
    (Effort.LOW, 0.2),
    (Effort.MEDIUM, 0.4),
    (Effort.HIGH, 0.6),
    (Effort.XHIGH, 0.7),
    (Effort.MAX, 0.8),
)
#: Up to how many tokens a budget is an effort, where only efforts are known.
_SIZES: Final = ((Effort.LOW, 4_000), (Effort.MEDIUM, 16_000), (Effort.HIGH, 48_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingFields:
    """The fields of a request that govern thinking; None leaves one out."""

    thinking: JsonObject | None = None
    effort: Effort | None = None


def thinking_fields(
    model: str, setting: ThinkingSetting | None, *, max_tokens: int
) -> ThinkingFields:
    """
    Say *setting* in terms that *model* takes, as near as it can be said.

    A model that cannot stop thinking is asked for the least of it, a budget becomes an effort and
    an effort a budget where only the other is known. No setting leaves the model its default.
    """
    if setting is None:
        return ThinkingFields()
    modes = traits_of(model).thinking
    if setting.off:
        return _off(modes)
    if modes is ThinkingModes.BUDGET or (modes is ThinkingModes.ALL and setting.budget_tokens):
        return _budget(setting, max_tokens)
    effort = setting.effort
    if setting.budget_tokens is not None:
        effort = _effort_of(setting.budget_tokens)
    return ThinkingFields(thinking=_ADAPTIVE, effort=effort)


def _off(modes: ThinkingModes) -> ThinkingFields:
    match modes:
        case ThinkingModes.ALWAYS:
            return ThinkingFields(thinking=_ADAPTIVE, effort=Effort.LOW)
        case ThinkingModes.BETWEEN_TOOLS:
            return ThinkingFields(thinking={"type": "between_tools"})
        case ThinkingModes.ADAPTIVE | ThinkingModes.ALL:
            return ThinkingFields(thinking=_DISABLED)
        case ThinkingModes.BUDGET:
            return ThinkingFields()


def _budget(setting: ThinkingSetting, max_tokens: int) -> ThinkingFields:
    share = dict(_SHARES)[setting.effort or Effort.MEDIUM]
    wanted = setting.budget_tokens or int(max_tokens * share)
    budget = min(max(wanted, _SMALLEST_BUDGET), max_tokens - 1)
    if budget < _SMALLEST_BUDGET:
        return ThinkingFields()
    return ThinkingFields(thinking={"type": "enabled", "budget_tokens": budget})


def _effort_of(budget_tokens: int) -> Effort:
    return next((effort for effort, size in _SIZES if budget_tokens <= size), Effort.XHIGH)
