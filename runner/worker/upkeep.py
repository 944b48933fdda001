"""What a worker does now and then: repair the store, and notice edited definitions."""

import logging
from collections.abc import Sequence
from typing import Protocol

from runner.definitions.problem import Problem
from runner.engine.sweep import Sweeper

log = logging.getLogger(__name__)


class Definitions(Protocol):
    """The definitions as a worker has them."""

    def problems(self) -> Sequence[Problem]: ...

    def has_good(self) -> bool: ...


class Upkeep:
    """
    Sweeps the store and looks at the definitions.

    Problems of the definitions are reported when they change, not each time they are seen.
    That earlier definitions stay in force is said where it is decided.
    """

    def __init__(self, sweeper: Sweeper, definitions: Definitions) -> None:
        self._sweeper = sweeper
        self._definitions = definitions
        self._reported: Sequence[Problem] = ()

    def run(self) -> None:
        """Do all of it once."""
        report = self._sweeper.sweep(quiet=None)
        if report.released:
            log.warning("claims expired", extra={"turn_ids": ",".join(report.released)})
        self._look_at_definitions()

    def _look_at_definitions(self) -> None:
        problems = tuple(self._definitions.problems())
        if problems == self._reported:
            return
        self._reported = problems
        if not self._definitions.has_good():
            log.warning(
                "the definitions have errors: turns that are stored run, new ones are refused "
                "until the errors are mended"
            )
        for problem in problems:
            hint = f" ({problem.hint})" if problem.hint else ""
            log.warning("%s: %s: %s%s", problem.location, problem.severity, problem.message, hint)
        if not problems:
            log.warning("the definitions have no problems any more")
