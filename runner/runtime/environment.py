"""What is true now: the newest context message of a conversation, made of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runner.context.blocks import subject_block
from runner.core.contributing import Contribution, Gathered, Skipped, Subject

#: Tells a model that has read older messages of this kind what to make of them.
_PREAMBLE: Final = "What follows is so as of now, in place of all that was said like this before."


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveContext:
    """All that is live, as one message tells it."""

    contributions: Sequence[Contribution]
    #: Contributors that failed and are left out.
    skipped: Sequence[Skipped] = ()

    @property
    def text(self) -> str:
        blocks = [contribution.text for contribution in self.contributions]
        return "\n\n".join(blocks if len(blocks) == 1 else (_PREAMBLE, *blocks))


def live_context(now: datetime, subject: Subject | None, gathered: Gathered) -> LiveContext:
    """Put the moment, the subject and what contributors gave together, in this order."""
    about = [] if subject is None else [Contribution(name="subject", text=subject_block(subject))]
    environment = Contribution(name="environment", text=environment_block(now))
    return LiveContext(
        contributions=(environment, *about, *gathered.contributions), skipped=gathered.skipped
    )


def environment_block(now: datetime) -> str:
    """
    Describe the moment a request is made in.

    It changes once a day, so that it is appended seldom and what a provider caches stays whole.
    """
    return f"<environment>\nToday is {now:%A}, {now:%Y-%m-%d} (UTC).\n</environment>"
