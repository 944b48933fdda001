"""What is live, told to the model as often as it changes."""

from datetime import datetime

from runner.core.contributing import ContributorContext
from runner.core.errors import ContributorFailed, OutboundCancelled
from runner.core.messages import Role, Text
from runner.core.records import Turn, TurnError
from runner.core.tooling import Cancellation
from runner.engine.circumstances import Circumstances
from runner.engine.decide import timeout_error
from runner.engine.draft import Draft
from runner.engine.endings import fail
from runner.engine.request import context_has_changed
from runner.runtime.agent import Agent
from runner.runtime.environment import LiveContext, live_context


def tell_context(draft: Draft, around: Circumstances) -> bool:
    """
    Append what is live where it is not what the model was last told.

    With False, *draft* already says how the step ends instead.

    Raises:
        ClaimLost: The claim ended meanwhile.
        HandBack: The worker is stopping.
    """
    state = draft.state
    around.lease.check()
    try:
        with around.deadline.limiting(around.lease.stop) as cancelled:
            live = gather(
                state.agent,
                about(state.turn, cancelled),
                now=around.clock.now(),
                seconds=around.deadline.seconds_left,
            )
    except (ContributorFailed, OutboundCancelled) as error:
        around.lease.check()
        fail(draft, _error(error, draft, around))
        return False
    if around.deadline.seconds_left <= 0:
        # What may be skipped was, when the time was over.
        fail(draft, timeout_error(state.timeout))
        return False
    for skipped in live.skipped:
        draft.note("context.skipped", contributor=skipped.name, reason=skipped.reason)
    if context_has_changed(state.messages, live.text):
        draft.say(Role.CONTEXT, [Text(text=live.text)])
    return True


def about(turn: Turn, cancelled: Cancellation) -> ContributorContext:
    """Say what contributors may know of a turn: what is its own, and nothing of any other."""
    return ContributorContext(
        turn_id=turn.id,
        conversation_id=turn.conversation_id,
        agent=turn.agent,
        principal=turn.principal,
        subject=turn.subject,
        context=turn.context,
        cancelled=cancelled,
    )


def gather(
    agent: Agent, known: ContributorContext, *, now: datetime, seconds: float
) -> LiveContext:
    """
    Ask an agent's contributors and put together what is live.

    Raises:
        ContributorFailed: One that the turn cannot go on without gave nothing.
        OutboundCancelled: The turn does not want it any more.
    """
    gathered = agent.contributors.gather(known, seconds=seconds)
    return live_context(now, known.subject, gathered)


def _error(
    error: ContributorFailed | OutboundCancelled, draft: Draft, around: Circumstances
) -> TurnError:
    if isinstance(error, OutboundCancelled) or around.deadline.seconds_left <= 0:
        return timeout_error(draft.before.timeout)
    return TurnError(
        code="context_failed", message=str(error), details={"contributor": error.contributor}
    )
