"""What a worker does now and then: repair the store, and notice edited definitions."""

import logging
from collections.abc import Callable, Sequence

from runner.definitions.problem import Problem
from runner.engine.sweep import Sweeper

log = logging.getLogger(__name__)


class Upkeep:
    """
    Sweeps the store and looks at the definitions.

    Problems of the definitions are reported when they change, not each time they are seen.
    """

    def __init__(self, sweeper: Sweeper, problems: Callable[[], Sequence[Problem]]) -> None:
        self._sweeper = sweeper
        self._problems = problems
        self._reported: Sequence[Problem] = ()

    def run(self) -> None:
        """Do all of it once."""
        report = self._sweeper.sweep(quiet=None)
        if report.released:
            log.warning("claims expired", extra={"turn_ids": ",".join(report.released)})
        self._look_at_definitions()

    def _look_at_definitions(self) -> None:
        problems = tuple(self._problems())
        if problems == self._reported:
            return
        self._reported = problems
        for problem in problems:
            log.warning("%s:%d: %s", problem.path, problem.line, problem.message)
        if not problems:
            log.warning("the definitions have no problems any more")
