"""Inputs that people give a turn under way."""

from collections.abc import Sequence

from runner.core.coordination import Input
from runner.core.messages import Role, Text
from runner.core.states import Phase
from runner.engine.answers import close_calls
from runner.engine.draft import Draft


def take_inputs(draft: Draft, inputs: Sequence[Input]) -> None:
    """Put inputs into the transcript in their order, skipping planned calls, and plan again."""
    close_calls(draft, "new input came before this call's place")
    messages = {given.id: draft.say(Role.USER, [Text(text=given.text)]).id for given in inputs}
    draft.take(messages)
    for input_id, message_id in messages.items():
        draft.note("turn.steered", input_id=input_id, message_id=message_id)
    if draft.turn.phase is not Phase.MODEL:
        draft.save()
        draft.reserve_request()
