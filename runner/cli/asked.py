"""Approvals as people read them: who wants to do what, because of which rule, and what was said."""

from collections.abc import Iterator
from datetime import datetime

from runner.cli.text import json_text, one_line, span
from runner.core.approvals import Approval
from runner.core.jsonvalue import JsonObject


def particulars(approval: Approval, now: datetime) -> Iterator[str]:
    """Write all that somebody has to know who answers; the arguments are shown whole."""
    question = approval.question
    yield f"agent      {one_line(' ▸ '.join(question.agents))}"
    yield f"tool       {one_line(question.tool)}"
    yield "arguments"
    yield from (f"  {line}" for line in json_text(question.arguments, indent=2).splitlines())
    yield f"rule       {rule(approval)}"
    if question.reason:
        yield f"reason     {one_line(question.reason)}"
    yield f"turn       {approval.turn_id}"
    if approval.answer is None:
        yield f"expires    in {span(approval.expires_at - now)}"


def how_to_answer(body: JsonObject) -> str:
    """Say how to answer what an event tells of."""
    approval = body.get("approval_id")
    return f"answer with `runner approve {approval}` or `runner deny {approval} --reason …`"


def rule(approval: Approval) -> str:
    """Name the rule that wants somebody asked, and where it stands."""
    question = approval.question
    names = [name for name in (question.policy, question.rule) if name]
    named = one_line(" / ".join(names)) or "a policy"
    return f"{named} ({one_line(question.source)})" if question.source else named


def stand(approval: Approval) -> str:
    """Say how an approval stands, and who answered it."""
    if approval.answer is None:
        return "open"
    by = "" if approval.answered_by is None else f" by {json_text(approval.answered_by)}"
    reason = f": {one_line(approval.answer_reason)}" if approval.answer_reason else ""
    return f"{approval.answer.value}{by}{reason}"
