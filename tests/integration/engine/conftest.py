"""A store that is audited."""

from collections.abc import Iterator

import pytest

from runner.store.store import Store


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    """A store in which, when the test is over, no rule is broken."""
    yield store
    assert list(store.audit.findings(limit=10)) == []
