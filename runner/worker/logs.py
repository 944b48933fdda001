"""How a worker process logs: one line an event, its fields as key=value."""

import logging
import sys
from typing import Final

from typing_extensions import override

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class FieldFormatter(logging.Formatter):
    """Writes an event's fields behind its message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s pid=%(process)d %(name)s: %(message)s")

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = (f" {key}={_shown(value)}" for key, value in _fields(record).items())
        return super().formatMessage(record) + "".join(fields)


def set_up_logs() -> None:
    """Give the handlers there are, or one to standard error, our format."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler(sys.stderr))
    for handler in root.handlers:
        handler.setFormatter(FieldFormatter())


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _shown(value: object) -> str:
    text = str(value)
    return repr(text) if not text or set(text) & set(" \t\r\n\"'=") else text
