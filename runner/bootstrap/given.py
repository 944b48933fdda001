"""What an application hands in with a turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from runner.core.contributing import Subject
from runner.core.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an application hands in beside the text of a turn."""

    #: Who the turn acts for, never taken from a model; the runner's own when left out.
    principal: JsonObject | None = None
    #: JSON for contributors and tools.
    context: JsonObject = field(default_factory=dict)
    #: What the turn is about.
    subject: Subject | None = None
    #: JSON the runner only keeps.
    metadata: JsonObject = field(default_factory=dict)
    #: Turns that have to end first; how they ended is part of what the turn is told.
    wait_for: Sequence[str] = ()
    #: The conversation that is told of the turn's end.
    callback_to: str | None = None
