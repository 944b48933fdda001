"""A question that outlives every worker, its broker and its database."""

from runner.core.approvals import Answer
from runner.core.ports import ApprovalFilter
from runner.core.states import TurnStatus
from tests.acceptance.lab.people import at_once
from tests.acceptance.restarts.conftest import MakeProject
from tests.acceptance.restarts.servers import Postgres, Server
from tests.acceptance.worker.policies import declare
from tests.acceptance.worker.workers import working
from tests.waiting import until

_RULES = """\
- {name: careful, effect: ask, actions: [tool], tools: [act], reason: Acts for good., expires: 1h}
- {effect: allow, actions: [approve], principals: {role: lead}}
"""
_LEAD, _CLERK = '{"role": "lead"}', '{"role": "clerk"}'


def test_a_question_outlives_everything_and_is_answered_once_by_one_of_those_who_may(
    make_project: MakeProject, broker: Server, postgres: Postgres
) -> None:
    project = make_project(broker.url)
    declare(project, _RULES)
    turn = project.runner.submit("actor", "act once")
    with working(project):
        until(lambda: project.runner.turn(turn.id).status is TurnStatus.WAITING, "the turn to ask")

    broker.kill()
    postgres.restart()
    [approval] = project.runner.approvals()
    [refused] = at_once(project, ["approve", approval.id, "--principal", _CLERK])
    answers = at_once(
        project,
        ["approve", approval.id, "--principal", _LEAD],
        ["deny", approval.id, "--reason", "No.", "--principal", _LEAD],
    )
    assert (refused[0] != 0, "is not yours to answer" in refused[1]) == (True, True)
    assert sorted(code for code, _ in answers) == [0, 1]
    postgres.restart()
    broker.start()
    with working(project):
        until(lambda: project.has_ended(turn.id), "the turn to end")

    [stored] = project.runner.approvals(ApprovalFilter(answered=True))
    assert (stored.answered_by, stored.question) == ({"role": "lead"}, approval.question)
    assert (approval.question.rule, approval.question.source) == ("careful", "agents/rules.yaml:3")
    assert approval.question.arguments == {"name": "a"}
    approved = stored.answer is Answer.APPROVED
    assert [entry.name for entry in project.ledger] == (["a", "a"] if approved else [])
    assert project.runner.turn(turn.id).result == "done"
    assert project.runner.audit() == []
