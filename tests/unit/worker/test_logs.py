import io
import logging
from collections.abc import Iterator

import pytest

from runner.worker.logs import FieldFormatter, set_up_logs


@pytest.fixture
def root_handlers() -> Iterator[list[logging.Handler]]:
    """The root logger's handlers, which are put back afterwards."""
    root = logging.getLogger()
    before = list(root.handlers)
    yield root.handlers
    root.handlers[:] = before


@pytest.fixture
def record() -> logging.LogRecord:
    record = logging.LogRecord(
        "runner.worker", logging.WARNING, "process.py", 1, "turn %s", ("left",), None
    )
    vars(record).update(turn_id="turn_1", error="it broke", empty="")
    return record


def test_an_event_is_one_line_with_its_fields(record: logging.LogRecord) -> None:
    line = FieldFormatter().format(record)

    assert "WARNING" in line
    assert line.endswith("runner.worker: turn left turn_id=turn_1 error='it broke' empty=''")
    assert "\n" not in line


def test_handlers_that_are_there_get_the_format(
    root_handlers: list[logging.Handler], record: logging.LogRecord
) -> None:
    stream = io.StringIO()
    root_handlers[:] = [logging.StreamHandler(stream)]

    set_up_logs()
    logging.getLogger().handle(record)

    assert "turn_id=turn_1" in stream.getvalue()


def test_with_no_handler_events_go_to_standard_error(
    root_handlers: list[logging.Handler],
    record: logging.LogRecord,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root_handlers.clear()

    set_up_logs()
    logging.getLogger().handle(record)

    assert "turn_id=turn_1" in capsys.readouterr().err
