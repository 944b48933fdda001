import re
import time
from collections.abc import Callable
from uuid import RFC_4122, UUID

import pytest

from runner.core.ids import (
    new_conversation_id,
    new_execution_id,
    new_message_id,
    new_turn_id,
    new_worker_id,
)

every_kind = pytest.mark.parametrize(
    ("make", "prefix"),
    [
        pytest.param(new_conversation_id, "conv", id="conversation"),
        pytest.param(new_turn_id, "turn", id="turn"),
        pytest.param(new_message_id, "msg", id="message"),
        pytest.param(new_execution_id, "exec", id="execution"),
        pytest.param(new_worker_id, "worker", id="worker"),
    ],
)


def uuid_in(identifier: str) -> UUID:
    return UUID(identifier.partition("_")[2])


@every_kind
def test_an_id_says_what_it_identifies(make: Callable[[], str], prefix: str) -> None:
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", make())


@every_kind
def test_an_id_is_a_uuid_of_version_seven(make: Callable[[], str], prefix: str) -> None:
    uuids = [uuid_in(make()) for _ in range(200)]

    assert {(uuid.version, uuid.variant) for uuid in uuids} == {(7, RFC_4122)}


def test_no_two_ids_are_the_same() -> None:
    assert len({new_turn_id() for _ in range(10_000)}) == 10_000


def test_an_id_carries_the_time_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid_in(new_turn_id()).int >> 80
    after = time.time_ns() // 1_000_000

    assert before <= made <= after


def test_every_random_bit_is_used() -> None:
    uuids = [uuid_in(new_turn_id()).int for _ in range(500)]
    random_bits = [bit for bit in range(76) if bit not in {62, 63}]

    assert all({uuid >> bit & 1 for uuid in uuids} == {0, 1} for bit in random_bits)
