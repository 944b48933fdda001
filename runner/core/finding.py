"""What an audit of the store finds."""

from dataclasses import dataclass

from runner.core.ids import TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something stored that must not be."""

    #: The rule that is broken; stable, for programs: `result_missing`, `wait_left_open`, …
    rule: str
    #: None where it is about a whole conversation, which the message names.
    turn_id: TurnId | None
    #: One sentence for people.
    message: str
