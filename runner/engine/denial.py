"""Putting something else in the place of what the store refused of a step."""

from collections.abc import Sequence

from runner.core.coordination import Input
from runner.core.errors import LimitReached
from runner.core.states import Phase
from runner.engine.answers import refuse
from runner.engine.calls import settle, spawn
from runner.engine.decide import iterations_error
from runner.engine.draft import Draft
from runner.engine.endings import fail
from runner.engine.steering import take_inputs
from runner.tools.results import over_limit


def deny(draft: Draft, limit: LimitReached) -> None:
    """
    Go on without what the tree has no room for.

    A call is answered with the limit, and the model may do without; of several children as many
    are started as there is room for. With no model request left the turn fails.
    """
    calls = draft.last_moved()
    children = dict(zip(calls, draft.write.children, strict=False))
    draft.restore()
    if not calls:
        fail(draft, iterations_error(limit.limit))
    elif children and limit.left > 0:
        spawn(draft, dict(list(children.items())[: limit.left]))
    else:
        refuse(draft, calls[0], over_limit(limit.path, limit.limit))
        settle(draft)


def take_in(draft: Draft, inputs: Sequence[Input]) -> None:
    """Go on with inputs that came while the turn was about to end with a result."""
    draft.restore()
    is_answered = draft.turn.phase is Phase.MODEL
    take_inputs(draft, inputs)
    if is_answered:
        # The request that was reserved gave the answer which ended nothing.
        draft.save()
        draft.reserve_request()
