"""How people answer what turns ask, each question once and only those who may."""

from runner.core.approvals import Answer, Approval
from runner.core.authorization import Action, Attempt, Effect
from runner.core.errors import NotPermitted
from runner.core.ids import ApprovalId
from runner.core.jsonvalue import JsonObject
from runner.core.people import Approvals
from runner.core.ports import Authority, Views
from runner.core.records import Turn
from runner.engine.aftermath import Aftermath
from runner.engine.permits import describe_turn


class Approving:
    """Takes people's answers, and lets turns go on that waited for them."""

    def __init__(
        self, approvals: Approvals, views: Views, aftermath: Aftermath, authority: Authority
    ) -> None:
        self._approvals = approvals
        self._views = views
        self._aftermath = aftermath
        self._authority = authority

    def answer(
        self,
        approval_id: ApprovalId,
        answer: Answer,
        *,
        principal: JsonObject | None,
        reason: str | None = None,
    ) -> Approval:
        """
        Answer an approval for *principal*, and wake the turn that waits for it.

        Raises:
            NotFound: There is no such approval.
            NotPermitted: The principal may not answer it.
            ApprovalAnswered: It was answered before, or its time is over.
        """
        asked = self._views.approval(approval_id)
        self._ensure_may_answer(asked, self._views.turn(asked.turn_id), principal)
        answered = self._approvals.answer(approval_id, answer, principal=principal, reason=reason)
        self._aftermath.wake(answered.wake)
        return answered.approval

    def _ensure_may_answer(
        self, approval: Approval, turn: Turn, principal: JsonObject | None
    ) -> None:
        """Refuse who may not answer; nobody else can be asked whether they may."""
        attempt = Attempt(
            action=Action.APPROVE,
            agent=turn.agent,
            principal=principal,
            tool=approval.question.tool,
            arguments=approval.question.arguments,
            turn=describe_turn(turn),
            conversation={"id": turn.conversation_id, "agent": turn.agent},
            context=turn.context,
        )
        verdict = self._authority.decide(attempt, turn.lineage)
        if verdict.effect is not Effect.ALLOW:
            why = verdict.reason or f"a policy says {verdict.effect.value}"
            hint = " (nobody was named; --principal says who answers)" if principal is None else ""
            raise NotPermitted(f"approval {approval.id!r} is not yours to answer: {why}{hint}")
