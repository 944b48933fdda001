"""What the API of each Claude model takes, as far as it differs."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ThinkingModes(StrEnum):
    """Which settings of thinking a model takes."""

    ALWAYS = "always"  #: Adaptive only; it cannot be turned off.
    ADAPTIVE = "adaptive"  #: Adaptive or off.
    BETWEEN_TOOLS = "between_tools"  #: Adaptive, or between tool calls only; never off.
    ALL = "all"  #: Adaptive, a budget of tokens, or off.
    BUDGET = "budget"  #: A budget of tokens, or off by saying nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a request to a model may contain."""

    thinking: ThinkingModes
    structured_output: bool


#: For models that are not listed: what the newest ones take, and nothing that some lack.
_NEWEST: Final = Traits(thinking=ThinkingModes.ALWAYS, structured_output=True)
_UNKNOWN: Final = Traits(thinking=ThinkingModes.ALWAYS, structured_output=False)

_MODEL_ID: Final = re.compile(
    r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)"
)
_LISTED: Final = (
    ("opus", 5, 0, ThinkingModes.ADAPTIVE),
    ("sonnet", 5, 5, ThinkingModes.BETWEEN_TOOLS),
    ("sonnet", 5, 0, ThinkingModes.ADAPTIVE),
    ("haiku", 5, 5, ThinkingModes.ADAPTIVE),
    ("opus", 4, 8, ThinkingModes.ADAPTIVE),
    ("opus", 4, 7, ThinkingModes.ADAPTIVE),
    ("opus", 4, 6, ThinkingModes.ALL),
    ("sonnet", 4, 6, ThinkingModes.ALL),
    ("opus", 4, 5, ThinkingModes.BUDGET),
    ("sonnet", 4, 5, ThinkingModes.BUDGET),
    ("haiku", 4, 5, ThinkingModes.BUDGET),
)


def traits_of(model: str) -> Traits:
    """Tell a model's traits by its id, dated or not, with or without a platform's prefix."""
    match = _MODEL_ID.search(model)
    if match is None:
        return _UNKNOWN
    version = (match["family"], int(match["major"]), int(match["minor"] or 0))
    for *listed, thinking in _LISTED:
        if tuple(listed) == version:
            return Traits(thinking=thinking, structured_output=True)
    return _NEWEST
