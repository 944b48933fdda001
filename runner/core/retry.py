"""How long to wait before a failed request to a model is tried again."""

import math
from typing import Final

_FIRST_DELAY: Final = 0.5
_LONGEST_DELAY: Final = 30.0
#: Whatever a provider asks for, a turn is looked at again within a day.
_LONGEST_REQUESTED_DELAY: Final = 86_400.0


def delay_after(attempt: int, *, retry_after: float | None, jitter: float) -> float:
    """
    Return how many seconds to wait after a failed attempt.

    A delay that the provider asked for is taken as it is, up to a day. Without one the delay
    doubles with each attempt, from half a second up to thirty, and *jitter* takes away up to half
    of it, so that turns that failed together do not come back together.

    Args:
        attempt: Which attempt failed, the first being 1.
        retry_after: The seconds the provider asked for; None, and what is not a positive number,
            means it did not ask.
        jitter: A random number from 0 to 1, handed in.
    """
    if retry_after is not None and retry_after > 0 and not math.isnan(retry_after):
        return min(retry_after, _LONGEST_REQUESTED_DELAY)
    doublings = min(max(attempt, 1) - 1, 16)
    return min(_FIRST_DELAY * (1 << doublings), _LONGEST_DELAY) * (1 - jitter / 2)
