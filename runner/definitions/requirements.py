"""The variables that files need, and whether they are set; never what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass

from runner.definitions.filling import VariableUse


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Requirement:
    """A variable that one file mentions."""

    path: str
    name: str
    #: The first line that mentions it.
    line: int
    is_set: bool
    #: Whether the file cannot do without it.
    is_required: bool

    @property
    def is_met(self) -> bool:
        return self.is_set or not self.is_required


def requirements(uses: Iterable[VariableUse]) -> tuple[Requirement, ...]:
    """One entry for each file and variable, sorted."""
    found: dict[tuple[str, str], list[VariableUse]] = {}
    for use in uses:
        found.setdefault((use.path, use.variable.name), []).append(use)
    return tuple(
        sorted(
            Requirement(
                path=path,
                name=name,
                line=min(use.line for use in group),
                is_set=all(use.variable.is_set for use in group),
                is_required=not all(use.variable.has_default for use in group),
            )
            for (path, name), group in found.items()
        )
    )
