"""A question that outlives every worker, its broker and its database."""

from datetime import timedelta

from runner.core.authorization import Effect
from runner.core.states import TurnStatus
from tests.acceptance.lab.people import at_once
from tests.acceptance.lab.policies import set_policy
from tests.acceptance.lab.scene import WORKER
from tests.acceptance.restarts.conftest import MakeProject
from tests.acceptance.restarts.servers import Postgres, Server
from tests.acceptance.worker.workers import working
from tests.waiting import until


def test_a_question_is_still_there_after_everything_was_restarted(
    make_project: MakeProject, broker: Server, postgres: Postgres
) -> None:
    project = make_project(broker.url)
    set_policy(project.root, Effect.ASK, "act", expires=timedelta(hours=1))
    turn = project.runner.submit("actor", "act once")
    with working(project, module=WORKER):
        until(lambda: project.runner.turn(turn.id).status is TurnStatus.WAITING, "the turn to ask")

    broker.kill()
    postgres.restart()
    [approval] = project.runner.approvals()
    [(code, said)] = at_once(project, ["approve", approval.id])
    broker.start()
    with working(project, module=WORKER):
        until(lambda: project.has_ended(turn.id), "the turn to end")

    assert (code, "approved: act" in said) == (0, True)
    assert [entry.name for entry in project.ledger] == ["a", "a"]
    assert project.runner.audit() == []
