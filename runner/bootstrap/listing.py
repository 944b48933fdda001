"""Lists of what people may see, as long as they asked for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from runner.bootstrap.guard import Guard
from runner.core.approvals import Approval
from runner.core.ports import ApprovalFilter, TurnFilter, Views
from runner.core.records import Turn

T = TypeVar("T")

#: How much more is read when too little of what was read may be seen.
_GROWTH: Final = 4


def visible_turns(views: Views, guard: Guard, which: TurnFilter) -> Sequence[Turn]:
    """Return the newest turns that somebody may see."""
    return _listed(
        lambda limit: views.turns(replace(which, limit=limit)), guard.visible, limit=which.limit
    )


def visible_approvals(views: Views, guard: Guard, which: ApprovalFilter) -> Sequence[Approval]:
    """Return the approvals of turns that somebody may see."""

    def readable(found: Sequence[Approval]) -> Sequence[Approval]:
        turn_ids = set(guard.readable(dict.fromkeys(each.turn_id for each in found)))
        return [each for each in found if each.turn_id in turn_ids]

    return _listed(
        lambda limit: views.approvals(replace(which, limit=limit)), readable, limit=which.limit
    )


def _listed(
    find: Callable[[int], Sequence[T]],
    keep: Callable[[Sequence[T]], Sequence[T]],
    *,
    limit: int,
) -> Sequence[T]:
    """Read on until there are *limit* that may be seen, or no more to read."""
    wanted = limit
    while True:
        found = find(wanted)
        kept = keep(found)
        if len(kept) >= limit or len(found) < wanted:
            return kept[:limit]
        wanted *= _GROWTH
