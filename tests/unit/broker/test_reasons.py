import errno

import pytest

from runner.broker.reasons import reason_of


class UnknownError(Exception):
    """An error of a library we know nothing of."""


class PhaseError(Exception):
    """Wraps what happened in an attribute."""

    def __init__(self, exception: BaseException) -> None:
        super().__init__()
        self.exception = exception


def refused() -> OSError:
    return ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(refused(), "connection refused; is it running?", id="itself"),
        pytest.param(
            UnknownError(UnknownError(refused())),
            "connection refused; is it running?",
            id="wrapped twice",
        ),
        pytest.param(
            UnknownError(PhaseError(refused())),
            "connection refused; is it running?",
            id="in an attribute",
        ),
        pytest.param(
            OSError(errno.ENETUNREACH, "Network is unreachable"),
            "network is unreachable",
            id="not a matter of running",
        ),
        pytest.param(UnknownError("redis://:hunter2@host"), "UnknownError", id="unknown"),
    ],
)
def test_a_reason_is_what_lies_at_the_bottom(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason


def test_a_cause_is_looked_at() -> None:
    error = UnknownError("network")
    error.__cause__ = refused()

    assert reason_of(error) == "connection refused; is it running?"
