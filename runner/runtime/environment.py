"""The environment block: what is true now, as a message in the history."""

from datetime import datetime


def environment(now: datetime) -> str:
    """
    Describe the moment a request is made in.

    It changes once a day, so that it is appended seldom and what a provider caches stays whole.
    """
    return f"<environment>\nToday is {now:%A}, {now:%Y-%m-%d} (UTC).\n</environment>"
