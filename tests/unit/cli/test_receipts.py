from dataclasses import replace

import pytest

from runner.cli import cancel, pause
from runner.core.coordination import Receipt, ReceiptState
from runner.core.states import TurnStatus
from tests.unit.cli.scenes import TURN, turn

REQUESTED, UNCHANGED = ReceiptState.REQUESTED, ReceiptState.UNCHANGED


def receipt(state: ReceiptState, status: TurnStatus) -> Receipt:
    return Receipt(turn_id=TURN, state=state, status=status)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (TurnStatus.CANCELLED, "cancelled"),
        (TurnStatus.PENDING, "asked to end; a worker closes its open calls first"),
    ],
)
def test_a_cancel_tells_whether_the_turn_has_ended_by_now(now: TurnStatus, words: str) -> None:
    assert cancel._worded(receipt(REQUESTED, TurnStatus.PENDING), turn(now)) == words


def test_a_running_turn_pauses_later() -> None:
    words = pause._worded(receipt(REQUESTED, TurnStatus.RUNNING), turn(TurnStatus.RUNNING))

    assert words == "pauses after what it is in the middle of"


def test_a_turn_that_is_being_cancelled_is_not_paused() -> None:
    closing = replace(turn(TurnStatus.PENDING), cancel_requested=True)

    words = pause._worded(receipt(UNCHANGED, TurnStatus.PENDING), closing)

    assert words == "is being cancelled"


def test_a_stale_turn_has_stopped_already() -> None:
    words = pause._worded(receipt(UNCHANGED, TurnStatus.STALE), turn(TurnStatus.STALE))

    assert words == "is stale already"
