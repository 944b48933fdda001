"""Whether the end of a turn may still be told to the conversation that was to hear of it."""

from dataclasses import dataclass

from runner.core.approvals import Answer
from runner.core.authorization import Action, Attempt, Effect, Verdict
from runner.core.ports import ApprovalFilter, Authority, Views
from runner.core.records import NewEvent, ToolExecution, Turn
from runner.engine.permits import attempt_by, decision, describe_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackRuling:
    """What is to be done with a callback that is about to be delivered."""

    #: Why it is not to be delivered; None where it is.
    refusal: str | None
    #: What tells of the decision, if a policy has to do with it.
    decided: tuple[NewEvent, ...]


class CallbackRules:
    """
    Asks the policies about a callback once more, right before it is delivered.

    It is the act of the turn that launched the one which ended, or of that one itself where a
    person launched it. Nobody can be asked any more: *ask* allows it only where that very launch
    was approved.
    """

    def __init__(self, views: Views, authority: Authority) -> None:
        self._views = views
        self._authority = authority

    def on(self, turn: Turn) -> CallbackRuling:
        """Say what becomes of the callback of an ended turn."""
        actor, run = self._launch(turn)
        verdict = self._authority.decide(_attempt(actor, run), actor.lineage)
        tool, run_id = (run.tool, run.id) if run is not None else (None, None)
        event = decision(verdict, action=Action.CALLBACK, tool=tool, execution_id=run_id)
        return CallbackRuling(
            refusal=None if self._is_allowed(verdict, run) else _reason(verdict),
            decided=() if event is None else (event,),
        )

    def _launch(self, turn: Turn) -> tuple[Turn, ToolExecution | None]:
        """Return the turn that wanted the callback, and its call; without one, itself."""
        place = turn.place
        if place.parent_id is None or place.launched_by is None:
            return turn, None
        runs = self._views.tool_executions(place.parent_id)
        run = next(run for run in runs if run.id == place.launched_by)
        return self._views.turn(place.parent_id), run

    def _is_allowed(self, verdict: Verdict, run: ToolExecution | None) -> bool:
        if verdict.effect is not Effect.ASK:
            return verdict.effect is Effect.ALLOW
        return run is not None and self._was_approved(run)

    def _was_approved(self, run: ToolExecution) -> bool:
        approvals = self._views.approvals(ApprovalFilter(turn_id=run.turn_id, answered=True))
        return any(a.execution_id == run.id and a.answer is Answer.APPROVED for a in approvals)


def _attempt(actor: Turn, run: ToolExecution | None) -> Attempt:
    if run is not None:
        return attempt_by(actor, run, Action.CALLBACK)
    return Attempt(
        action=Action.CALLBACK,
        agent=actor.agent,
        principal=actor.principal,
        turn=describe_turn(actor),
        conversation={"id": actor.conversation_id, "agent": actor.agent},
        context=actor.context,
    )


def _reason(verdict: Verdict) -> str:
    said = "needs an approval that was not given" if verdict.effect is Effect.ASK else "is denied"
    return f"the callback {said}: {verdict.reason}" if verdict.reason else f"the callback {said}"
