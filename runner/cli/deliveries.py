"""Deliveries as a table, and for programs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from runner.cli.console import console, print_json, print_table
from runner.cli.shapes import delivery_json
from runner.cli.text import one_line, span
from runner.core.coordination import Delivery

#: How much of a text is shown; --json has all of it.
_LONGEST: Final = 300


def print_deliveries(
    deliveries: Sequence[Delivery], other: Literal["FROM", "TO"], now: datetime, *, as_json: bool
) -> None:
    """Print deliveries with the conversation at the *other* end."""
    if as_json:
        print_json([delivery_json(delivery) for delivery in deliveries])
    elif deliveries:
        rows = [
            (
                (one.source or "an application") if other == "FROM" else one.destination,
                one.turn_id,
                span(now - one.created_at),
                one_line(one.text, _LONGEST),
            )
            for one in deliveries
        ]
        print_table(console(), (other, "ANSWERED BY", "AGE", "TEXT"), rows, wraps=("TEXT",))
    else:
        print("there are no deliveries")
