"""Benches under policies, and what there is to see of approvals."""

from collections.abc import Sequence

from runner.clients.anthropic.projection import project
from runner.core.approvals import Answer, Approval
from runner.core.authorization import Effect
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message
from runner.core.ports import ApprovalFilter
from runner.core.records import Event, Turn
from runner.engine.permits import Policing
from tests.fakes.authority import FakeAuthority
from tests.integration.engine.bench import Bench

ADA: JsonObject = {"user": "ada"}


def asking(**about: str) -> FakeAuthority:
    """An authority that has people asked about what has these values."""
    authority = FakeAuthority()
    authority.say(Effect.ASK, **about)
    return authority


def policing(authority: FakeAuthority) -> Policing:
    return Policing(authority=authority)


def open_approvals(bench: Bench, turn: Turn | None = None) -> Sequence[Approval]:
    which = ApprovalFilter(turn_id=turn.id if turn else None)
    return bench.store.views.approvals(which)


def approve(bench: Bench, approval: Approval) -> Approval:
    return bench.approving.answer(approval.id, Answer.APPROVED, principal=ADA)


def deny(bench: Bench, approval: Approval, reason: str | None = None) -> Approval:
    return bench.approving.answer(approval.id, Answer.DENIED, principal=ADA, reason=reason)


def answer_all(bench: Bench) -> None:
    """Approve whatever is asked, and work on, until nothing is asked any more."""
    bench.work_off()
    while found := open_approvals(bench):
        for approval in found:
            approve(bench, approval)
        bench.work_off()


def events(bench: Bench, turn: Turn, kind: str) -> list[Event]:
    return [each for each in bench.store.views.events(turn.id) if each.kind == kind]


def assert_answered(messages: Sequence[Message]) -> None:
    """Assert that a provider gets one result for each call, in the order of the calls."""
    wire = project([m for m in messages if m.seq is not None], model="fake-1", prefix="")
    for asked, answered in zip(wire, [*wire[1:], None], strict=True):
        calls = [block["id"] for block in asked.content if block["type"] == "tool_use"]
        if not calls:
            continue
        assert answered is not None, f"{calls} have no result"
        results = [b["tool_use_id"] for b in answered.content if b["type"] == "tool_result"]
        assert results == calls
