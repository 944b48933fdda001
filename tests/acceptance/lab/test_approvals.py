"""Calls that people approve, with real workers that are killed and people in other processes."""

from datetime import timedelta
from typing import Final

import pytest

from runner.core.approvals import Answer
from runner.core.authorization import Effect
from runner.core.ports import ApprovalFilter
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.lab.people import at_once
from tests.acceptance.lab.policies import set_policy
from tests.acceptance.lab.scene import WORKER
from tests.acceptance.lab.stops import Stops
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.waiting import until

STACKS: Final = ("sqlite-memory://", "postgresql-redis")
_AN_HOUR: Final = timedelta(hours=1)
#: Two calls, one of them asked about: the response, the call, the park; the approved one, the end.
_STEPS: Final = tuple(range(1, 5))
_ALWAYS: Final = {(1, "after"), (3, "before")}


def is_asking(project: Project, turn_id: str) -> bool:
    turn = project.runner.turn(turn_id)
    return turn.status is TurnStatus.WAITING and turn.open_approvals > 0


def approve_all(project: Project) -> None:
    for approval in project.runner.approvals():
        project.runner.approve(approval.id)


@pytest.mark.parametrize("stack", STACKS)
def test_what_is_asked_survives_every_worker_and_is_answered_once_by_one_of_two_people(
    make_project: MakeProject, stack: str
) -> None:
    project = make_project(stack)
    set_policy(project.root, Effect.ASK, "act", expires=_AN_HOUR)
    turn = project.runner.submit("actor", "act once")
    with working(project, module=WORKER):
        until(lambda: is_asking(project, turn.id), "the turn to ask")
    [approval] = project.runner.approvals()

    answers = at_once(project, ["approve", approval.id], ["deny", approval.id, "--reason", "No."])
    assert project.ledger == []
    with working(project, module=WORKER):
        until(lambda: project.has_ended(turn.id), "the turn to end")

    assert sorted(code for code, _ in answers) == [0, 1]
    [late] = [text for code, text in answers if code]
    stored = project.runner.approvals(ApprovalFilter(answered=True))[0]
    assert stored.answer is not None
    assert f"was {stored.answer.value} before" in late
    approved = stored.answer is Answer.APPROVED
    assert [(e.what, e.name) for e in project.ledger] == (
        [("begin", str(approval.question.arguments["name"])), ("end", "a")] if approved else []
    )
    assert project.runner.turn(turn.id).result == "done"
    assert project.runner.audit() == []


@pytest.mark.parametrize("stack", STACKS)
def test_what_nobody_answers_in_time_is_denied_by_the_workers(
    make_project: MakeProject, stack: str
) -> None:
    project = make_project(stack)
    set_policy(project.root, Effect.ASK, "act", expires=timedelta(milliseconds=500))
    turn = project.runner.submit("actor", "act once")

    with working(project, module=WORKER):
        until(lambda: project.has_ended(turn.id), "the turn to end")

    [approval] = project.runner.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.EXPIRED
    assert project.ledger == []
    assert project.outcomes(turn.id) == [ExecutionStatus.REFUSED]


def test_a_policy_revoked_after_the_approval_denies(make_project: MakeProject) -> None:
    project = make_project("sqlite-memory://")
    set_policy(project.root, Effect.ASK, "act", expires=_AN_HOUR)
    turn = project.runner.submit("actor", "act once")
    with working(project, module=WORKER):
        until(lambda: is_asking(project, turn.id), "the turn to ask")
    approve_all(project)

    set_policy(project.root, Effect.DENY, "act", expires=_AN_HOUR)
    with working(project, module=WORKER):
        until(lambda: project.has_ended(turn.id), "the turn to end")

    assert project.ledger == []
    assert project.outcomes(turn.id) == [ExecutionStatus.REFUSED]


def _points() -> list[object]:
    return [
        pytest.param(
            number,
            when,
            STACKS[number % 2],
            marks=() if (number, when) in _ALWAYS else (pytest.mark.crash,),
        )
        for number in _STEPS
        for when in ("before", "after")
    ]


@pytest.mark.parametrize(("number", "when", "stack"), _points())
def test_a_worker_killed_around_any_commit_loses_no_question_and_no_answer(
    make_project: MakeProject, number: int, when: str, stack: str
) -> None:
    project = make_project(stack, lease="2s")
    set_policy(project.root, Effect.ASK, "act_safely", expires=_AN_HOUR)
    stops = Stops(project.root)
    stops.hold(f"step actor {number} {when}")
    turn = project.runner.submit("actor", "act twice at once")

    with working(project, module=WORKER) as worker:
        until(lambda: stops.is_holding or is_asking(project, turn.id), "the worker to be held")
        if not stops.is_holding:
            approve_all(project)
            until(lambda: stops.is_holding or project.has_ended(turn.id), "the worker to be held")
        worker.kill()

    def has_ended() -> bool:
        approve_all(project)
        return project.has_ended(turn.id)

    with working(project, module=WORKER):
        until(has_ended, "the turn to end")

    assert project.runner.turn(turn.id).result == "done"
    assert project.runner.audit() == []
    assert project.count("begin", "b") <= 1, "an effect was repeated"
    assert project.count("end", "a") >= 1
    [approval] = project.runner.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.APPROVED
