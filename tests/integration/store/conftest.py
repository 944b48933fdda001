"""A store that is audited as far as it keeps the rules whatever steps it is given."""

from collections.abc import Iterator
from typing import Final

import pytest

from runner.store.store import Store

#: The other rules are the engine's: steps that a test makes up need not keep them.
_KEPT_BY_STORE: Final = {
    "unattended",
    "wait_circle",
    "wait_left_open",
    "open_waits",
    "waiters",
    "place",
    "lane_order",
    "message_home",
    "delivery",
    "limit_iterations",
    "limit_tool_executions",
    "limit_children",
    "input_positions",
    "input_order",
}


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    """A store in which, when the test is over, no rule is broken that it keeps by itself."""
    yield store
    findings = store.audit.findings(limit=10)
    assert [each for each in findings if each.rule in _KEPT_BY_STORE] == []
