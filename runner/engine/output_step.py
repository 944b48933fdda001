"""The output step: check the answer, then finish, ask for a better one, or fail."""

import json

from runner.core.jsonvalue import JsonValue, dump_json
from runner.core.messages import Role, Text
from runner.core.records import TurnError
from runner.definitions.json_schema import Validator
from runner.engine.calls import settle
from runner.engine.draft import Draft
from runner.engine.endings import complete, fail
from runner.engine.state import State

#: How often in a row a model is asked to mend its answer.
_MAX_REVISIONS = 2
_REVISE = "Your answer does not have the required form:"


def check_output(state: State) -> Draft:
    """Perform the output step on the last answer."""
    draft = Draft(state)
    answer = next(m.text for m in reversed(state.messages) if m.role is Role.ASSISTANT)
    value, complaints = _read(answer, state)
    if not complaints:
        complete(draft, answer, value)
    elif _revisions(state) >= _MAX_REVISIONS:
        fail(
            draft,
            TurnError(
                code="invalid_output",
                message=f"the answer does not match output_schema: {complaints[0]}",
                details={"complaints": list(complaints)},
            ),
        )
    else:
        draft.note("output.rejected", complaints=list(complaints))
        draft.say(Role.NOTICE, [Text(text=_request_for_revision(complaints))])
        settle(draft)
    return draft


def _read(answer: str, state: State) -> tuple[JsonValue, tuple[str, ...]]:
    """Return the answer's value, and what is wrong with it."""
    schema = state.agent.definition.output_schema
    try:
        value: JsonValue = json.loads(_unfenced(answer))
        dump_json(value)  # Python reads numbers that JSON does not have
    except (ValueError, RecursionError) as error:
        return None, (f"it is not JSON: {error}",)
    return value, Validator(schema).complaints(value) if schema is not None else ()


def _unfenced(answer: str) -> str:
    """Take a code fence off, which models put around JSON in spite of what they are told."""
    text = answer.strip()
    if not (text.startswith("```") and text.endswith("```")):
        return text
    return text.partition("\n")[2].removesuffix("```")


def _revisions(state: State) -> int:
    """Count the requests for a better answer in this turn."""
    return sum(
        message.role is Role.NOTICE and message.text.startswith(_REVISE)
        for message in state.messages
        if message.turn_id == state.turn.id
    )


def _request_for_revision(complaints: tuple[str, ...]) -> str:
    listed = "\n".join(f"- {complaint}" for complaint in complaints)
    return f"{_REVISE}\n{listed}\nAnswer again with the whole corrected JSON and nothing else."
