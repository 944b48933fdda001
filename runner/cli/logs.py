"""What the parts below have to say while a command runs: warnings, one line each."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override

from runner.cli.text import folded, one_line

_FIELDS = ("error", "reason", "first")


class WarningLines(logging.Handler):
    """Prints warnings and errors without their tracebacks."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        details = [str(getattr(record, name)) for name in _FIELDS if hasattr(record, name)]
        line = f"warning: {one_line(': '.join([record.getMessage(), *details]))}"
        print(folded(line, sys.stderr), file=sys.stderr)


@contextmanager
def warnings_shown(*, debug: bool) -> Iterator[None]:
    """
    Send warnings to standard error for a while.

    With *debug* they keep their tracebacks, and all that the runner logs is shown; other libraries
    may log what they send, so that theirs stays out.
    """
    root, ours = logging.getLogger(), logging.getLogger("runner")
    before, handler = ours.level, logging.StreamHandler() if debug else WarningLines()
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG if debug else logging.WARNING)
    try:
        yield
    finally:
        ours.setLevel(before)
        root.removeHandler(handler)
