import logging
from collections.abc import Iterator

import pytest
from dramatiq import Worker
from dramatiq.brokers.stub import StubBroker

from runner.core.errors import ConfigError
from runner.worker.middleware import Hooks


class UnfitLife:
    """Cannot begin."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def open(self) -> None:
        raise self._error

    def start(self, worker: Worker) -> None:
        """Never reached."""

    def stop(self) -> None:
        """Never reached."""

    def insist(self) -> None:
        """Never reached."""

    def close(self) -> None:
        """Never reached."""


@pytest.fixture(autouse=True)
def _same_log_format() -> Iterator[None]:
    """Put back how the handlers of the tests write."""
    before = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    yield
    for handler, formatter in before:
        handler.setFormatter(formatter)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        pytest.param(ConfigError("there is no config"), "there is no config", id="on-purpose"),
        pytest.param(ValueError("odd"), "ValueError: odd", id="by-mistake"),
    ],
)
def test_a_process_that_cannot_begin_says_why_and_ends(
    error: Exception, sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    hooks = Hooks(UnfitLife(error))

    with pytest.raises(SystemExit, match="1"):
        hooks.after_process_boot(StubBroker(middleware=[]))

    assert capfd.readouterr().err == f"error: {sentence}\n"
