"""Turns that ask people, for the tests of the store."""

from dataclasses import replace
from datetime import timedelta

from runner.core.approvals import NewApproval, Question
from runner.core.authorization import Action
from runner.core.ids import new_approval_id
from runner.core.records import ClaimedTurn, StepWrite, Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import add, claim, execution, step

QUESTION = Question(
    agents=("writer",),
    tool="search",
    arguments={"query": "tea"},
    action=Action.TOOL,
    policy="careful",
    rule="rule 1",
    source="policies.yaml:3",
    layer="operator",
    reason="Tea is dear.",
)


def asking(claimed: ClaimedTurn, number: int = 1, *, questions: int = 1) -> StepWrite:
    """Describe the step by which a turn asks so many questions and waits."""
    runs = [
        execution(claimed.turn, place, ExecutionStatus.ASKING) for place in range(1, questions + 1)
    ]
    write = step(claimed, number=number, status=TurnStatus.WAITING, planned=runs)
    approvals = [
        NewApproval(
            id=new_approval_id(),
            execution_id=run.id,
            question=QUESTION,
            expires=timedelta(minutes=5),
        )
        for run in runs
    ]
    turn = replace(write.turn, open_approvals=questions)
    return replace(write, turn=turn, approvals=approvals)


def ask(store: Store, *, questions: int = 1) -> Turn:
    """Have a turn ask and wait."""
    turn = add(store)
    store.journal.commit(asking(claim(store, turn), questions=questions))
    return store.views.turn(turn.id)
