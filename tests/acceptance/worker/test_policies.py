"""Declared policies in real workers: asked, revoked, and edited while turns wait."""

from runner.core.approvals import Answer
from runner.core.ports import ApprovalFilter
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.policies import declare
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.waiting import until

_ASK = "- {effect: ask, tools: [act], actions: [tool], reason: Acts for good., expires: EXPIRES}\n"
_DENY = "- {effect: deny, tools: [act], reason: Not any more.}\n"
_NOTHING = "- {effect: deny, tools: [another], reason: Never.}\n"
_ACTOR = """\
name: actor
description: Acts.
policies: [{name: own, rules: [RULE]}]
tools: [{name: act, description: Acts., python: "effects:act"}]
"""


def ask(project: Project, expires: str = "1h") -> Turn:
    """Have a worker take a turn to where it asks, and leave."""
    declare(project, _ASK.replace("EXPIRES", expires))
    turn = project.runner.submit("actor", "act once")
    with working(project):
        until(lambda: project.runner.turn(turn.id).status is TurnStatus.WAITING, "it to ask")
    return turn


def finish(project: Project, turn: Turn) -> str:
    """Have another worker end the turn, and return all that was said in it."""
    with working(project):
        until(lambda: project.has_ended(turn.id), "the turn to end")
    assert project.runner.turn(turn.id).result == "done"
    assert project.runner.audit() == []
    return str(project.runner.messages(turn.conversation_id))


def test_what_nobody_answers_before_the_rule_says_is_denied(project: Project) -> None:
    declare(project, _ASK.replace("EXPIRES", "1s"))
    turn = project.runner.submit("actor", "act once")

    finish(project, turn)

    [approval] = project.runner.approvals(ApprovalFilter(answered=True))
    assert approval.answer is Answer.EXPIRED
    assert project.ledger == []
    assert project.outcomes(turn.id) == [ExecutionStatus.REFUSED]


def test_what_is_denied_while_a_turn_is_queued_is_not_done(project: Project) -> None:
    declare(project, _NOTHING)
    turn = project.runner.submit("actor", "act once")
    declare(project, _DENY)

    said = finish(project, turn)

    assert project.ledger == []
    assert "Not any more." in said


def test_what_is_denied_after_it_was_approved_is_not_done(project: Project) -> None:
    turn = ask(project)
    [approval] = project.runner.approvals()
    project.runner.approve(approval.id)
    declare(project, _DENY)

    said = finish(project, turn)

    assert project.ledger == []
    assert "Not any more." in said


def test_an_agents_edit_takes_away_from_turns_under_way_and_gives_only_to_new_ones(
    project: Project,
) -> None:
    agent = project.root / "agents" / "actor.yaml"
    agent.write_text(_ACTOR.replace("RULE", "{effect: deny, tools: [act], reason: Denied before.}"))
    under_way = project.runner.submit("actor", "act once")
    agent.write_text(_ACTOR.replace("RULE", "{effect: allow, actions: [tool]}"))

    said = finish(project, under_way)
    assert project.ledger == []
    assert "Denied before." in said

    finish(project, project.runner.submit("actor", "act once"))
    assert [entry.name for entry in project.ledger] == ["a", "a"]
