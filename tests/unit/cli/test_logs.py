import logging

import pytest

from runner.cli.logs import warnings_shown

log = logging.getLogger("runner.tests")


def test_a_warning_is_one_line_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_shown(debug=False):
        log.warning("dispatch failed", extra={"error": "the broker\ndoes not answer"})
        log.info("nothing to see")

    assert capsys.readouterr().err == "warning: dispatch failed: the broker does not answer\n"


def test_a_traceback_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_shown(debug=False):
        log.error("a step failed", exc_info=ValueError("x"))

    assert capsys.readouterr().err == "warning: a step failed\n"


def test_with_debug_all_that_the_runner_logs_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_shown(debug=True):
        log.debug("a detail")
        logging.getLogger("library").debug("what it sends")
        log.error("a step failed", exc_info=ValueError("x"))

    err = capsys.readouterr().err
    assert "a detail" in err
    assert "what it sends" not in err
    assert "ValueError: x" in err


def test_nothing_is_shown_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_shown(debug=False):
        pass
    before = logging.getLogger().handlers

    assert not [handler for handler in before if handler.__class__.__module__ == "runner.cli.logs"]
