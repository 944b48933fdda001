"""The model step: ask, retry what may pass, and record the one complete answer."""

from dataclasses import asdict
from datetime import timedelta
from typing import assert_never

from runner.core.cost import dollars
from runner.core.errors import (
    CallCancelled,
    ModelAccessDenied,
    ModelError,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.jsonvalue import canonical_json
from runner.core.messages import Message, Origin, Role, Text
from runner.core.model import CallRetried, ModelRequest, ModelResponse, StopReason
from runner.core.records import TurnError
from runner.core.retry import delay_after
from runner.core.states import Phase
from runner.engine.call_ids import with_unique_ids
from runner.engine.calls import settle
from runner.engine.circumstances import Circumstances
from runner.engine.context_step import tell_context
from runner.engine.decide import timeout_error
from runner.engine.draft import Draft
from runner.engine.endings import complete, fail, hand_back
from runner.engine.request import build_request
from runner.engine.skills import loaded_skills
from runner.engine.state import State

#: How often in a row a model that answered nothing is asked to say something.
_MAX_NUDGES = 2
_RESULTS = "The turns this one waited for have ended:"
_NUDGE = (
    "Your last response was empty. If there is more to do, do it; otherwise give your answer now."
)


def ask_model(state: State, around: Circumstances) -> Draft:
    """
    Perform the model step.

    Raises:
        ClaimLost: The claim ended during the call; nothing of the answer may be kept.
        HandBack: The worker is stopping and the call was given up.
    """
    draft = Draft(state)
    _tell_results(state, draft)
    if not tell_context(draft, around):
        return draft
    loaded = loaded_skills(state.agent, state.executions.values())
    request = build_request(state.agent, state.turn.kind, draft.state.messages, loaded=loaded)
    started = around.clock.monotonic()
    response = _attempt_until_answered(request, draft, around)
    if response is not None:
        draft.count_response(response)
        draft.note(
            "model.responded",
            model=response.model,
            stop_reason=response.stop_reason.value,
            request_id=response.request_id,
            **asdict(response.usage),
            cost=dollars(response.cost),
            seconds=round(around.clock.monotonic() - started, 3),
        )
        _record(response, draft)
    return draft


def _tell_results(state: State, draft: Draft) -> None:
    """Tell the model, once, how the turns ended that this one was to wait for."""
    own = (m for m in state.messages if m.turn_id == state.turn.id and m.role is Role.NOTICE)
    if not state.joined or any(message.text.startswith(_RESULTS) for message in own):
        return
    results = canonical_json([outcome.as_json() for outcome in state.joined])
    draft.say(Role.NOTICE, [Text(text=f"{_RESULTS}\n{results}")])


def _attempt_until_answered(
    request: ModelRequest, draft: Draft, around: Circumstances
) -> ModelResponse | None:
    """Try until there is an answer; with None, *draft* already says how the step ends instead."""
    client = draft.before.agent.client
    while True:
        around.lease.check()
        try:
            with around.deadline.limiting(around.lease.stop) as cancelled:
                return client.complete(request, around.on_delta, cancelled)
        except CallCancelled:
            around.lease.check()
            fail(draft, _out_of_time(draft))
            return None
        except (ModelUnavailable, ModelTransport) as error:
            if not _will_retry(error, client.max_attempts, draft, around):
                return None
        except ModelError as error:
            fail(draft, _error(error))
            return None


def _will_retry(error: ModelError, max_attempts: int, draft: Draft, around: Circumstances) -> bool:
    """Wait for the next attempt, or let *draft* hand the turn back or fail it."""
    draft.count_attempt()
    attempt = draft.turn.attempts
    if attempt >= max_attempts:
        fail(draft, _error(error, attempts=attempt))
        return False
    asked = error.retry_after if isinstance(error, ModelUnavailable) else None
    delay = delay_after(attempt, retry_after=asked, jitter=around.jitter())
    draft.note("model.retried", attempt=attempt, delay=round(delay, 3), error=str(error))
    if delay > around.patience:
        hand_back(draft, "the provider asked to wait", delay=timedelta(seconds=delay))
        return False
    around.on_delta(CallRetried(attempt=attempt, delay=delay, error=str(error)))
    around.deadline.wait(delay, around.lease.stop)
    if around.deadline.seconds_left <= 0:
        fail(draft, _out_of_time(draft))
        return False
    return True


def _record(response: ModelResponse, draft: Draft) -> None:
    """Turn a whole answer into what the step changes."""
    match response.stop_reason:
        case StopReason.TOOL_CALLS:
            message = _keep(response, draft)
            draft.plan(message.tool_calls)
            settle(draft)
        case StopReason.PAUSE:
            _keep(response, draft)
            settle(draft)
        case StopReason.END:
            _record_answer(response, draft)
        case StopReason.MAX_TOKENS | StopReason.CONTEXT_FULL | StopReason.REFUSAL:
            fail(draft, _cut_short(response, draft))
        case _:
            assert_never(response.stop_reason)


def _record_answer(response: ModelResponse, draft: Draft) -> None:
    if not any(isinstance(part, Text) and part.text.strip() for part in response.parts):
        _nudge(draft)
        return
    message = _keep(response, draft)
    if draft.before.agent.definition.output_schema is not None:
        draft.enter(Phase.OUTPUT)
    else:
        complete(draft, message.text)


def _nudge(draft: Draft) -> None:
    """Ask a model that said nothing once more, a bounded number of times."""
    nudges = 0
    for message in reversed(draft.state.messages):
        if message.role is not Role.NOTICE or message.text != _NUDGE:
            break
        nudges += 1
    if nudges >= _MAX_NUDGES:
        fail(
            draft,
            TurnError(
                code="empty_answer",
                message=f"the model answered nothing {nudges + 1} times in a row",
            ),
        )
        return
    draft.say(Role.NOTICE, [Text(text=_NUDGE)])
    settle(draft)


def _keep(response: ModelResponse, draft: Draft) -> Message:
    """Store the answer whole."""
    agent, executions = draft.state.agent, draft.state.executions
    taken = {run.call_id for run in executions.values()}
    loaded = loaded_skills(agent, executions.values())
    return draft.say(
        Role.ASSISTANT,
        with_unique_ids(response.parts, taken),
        origin=Origin(
            provider=response.provider,
            model=response.model,
            prefix=agent.prefix(draft.turn.kind, loaded),
        ),
    )


def _cut_short(response: ModelResponse, draft: Draft) -> TurnError:
    model = draft.before.agent.definition.model
    details = {"request_id": response.request_id, "model": response.model}
    match response.stop_reason:
        case StopReason.REFUSAL:
            why = response.explanation or "it gave no explanation"
            return TurnError(
                code="refused", message=f"the model declined to answer: {why}", details=details
            )
        case StopReason.CONTEXT_FULL:
            return TurnError(
                code="context_full",
                message="the conversation fills the model's context window; start a new one",
                details=details,
            )
        case _:
            return TurnError(
                code="truncated",
                message=(
                    f"the answer was cut at max_tokens = {model.max_tokens}; "
                    f"raise models.{model.alias}.max_tokens"
                ),
                details=details,
            )


def _out_of_time(draft: Draft) -> TurnError:
    return timeout_error(draft.before.timeout)


def _error(error: ModelError, *, attempts: int | None = None) -> TurnError:
    tried = f" (tried {attempts} times)" if attempts else ""
    return TurnError(
        code=_error_code(error),
        message=f"{error}{tried}",
        details={"request_id": error.request_id} if error.request_id else {},
    )


def _error_code(error: ModelError) -> str:
    match error:
        case ModelAccessDenied():
            return "model_access_denied"
        case PromptTooLong():
            return "prompt_too_long"
        case ModelUnavailable():
            return "model_unavailable"
        case ModelTransport():
            return "model_transport"
        case _:
            return "model_rejected"
