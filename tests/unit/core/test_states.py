import inspect
import re
from itertools import product

import pytest

from runner.core.errors import InvalidMove
from runner.core.states import LIVE, ExecutionStatus, TurnStatus, ensure_move

MOVES = {
    ("prepared", "pending"),
    ("prepared", "waiting"),
    ("prepared", "running"),
    ("prepared", "paused"),
    ("prepared", "cancelled"),
    ("pending", "running"),
    ("pending", "paused"),
    ("pending", "failed"),
    ("pending", "cancelled"),
    ("running", "pending"),
    ("running", "waiting"),
    ("running", "paused"),
    ("running", "stale"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("waiting", "pending"),
    ("waiting", "paused"),
    ("waiting", "failed"),
    ("waiting", "cancelled"),
    ("paused", "pending"),
    ("paused", "waiting"),
    ("paused", "failed"),
    ("paused", "cancelled"),
    ("stale", "pending"),
    ("stale", "failed"),
    ("stale", "cancelled"),
}


@pytest.mark.parametrize(("current", "to"), list(product(TurnStatus, repeat=2)))
def test_only_the_listed_moves_are_allowed(current: TurnStatus, to: TurnStatus) -> None:
    assert current.can_become(to) == ((current, to) in MOVES)


@pytest.mark.parametrize(("current", "to"), list(product(TurnStatus, repeat=2)))
def test_a_move_is_ensured_or_refused_by_name(current: TurnStatus, to: TurnStatus) -> None:
    if (current, to) in MOVES:
        ensure_move(current, to)
    else:
        with pytest.raises(InvalidMove, match=f"^a {current} turn cannot become {to}$"):
            ensure_move(current, to)


def test_ended_turns_have_no_way_out() -> None:
    ended = {status for status in TurnStatus if status.is_ended}

    assert ended == {"completed", "failed", "cancelled"}


def test_a_turn_is_live_from_its_submission_to_its_end() -> None:
    assert set(LIVE) == {
        status for status in TurnStatus if not status.is_ended and status != "prepared"
    }


def test_every_way_to_an_end_can_be_reached_from_every_live_turn() -> None:
    for status in LIVE:
        assert status.can_become(TurnStatus.FAILED)
        assert status.can_become(TurnStatus.CANCELLED)


@pytest.mark.parametrize("statuses", [TurnStatus, ExecutionStatus])
def test_every_status_is_drawn(statuses: type[TurnStatus] | type[ExecutionStatus]) -> None:
    drawn = set(re.findall(r"[a-z_]+", inspect.getdoc(statuses) or ""))

    assert {str(status) for status in statuses} <= drawn


def test_an_execution_is_open_until_it_has_a_result() -> None:
    is_open = {status for status in ExecutionStatus if not status.is_ended}

    assert is_open == {"planned", "asking", "ready", "running", "waiting"}
