"""The values that a rule accepts at one key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from runner.definitions.glob import Glob
from runner.definitions.policy import JsonScalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Some values, compiled once; true is not one, and text is not a number."""

    #: Each with whether it is true or false.
    exact: frozenset[tuple[bool, JsonScalar]]
    globs: tuple[Glob, ...]
    #: Whether whatever is there is accepted.
    is_anything: bool

    @classmethod
    def of(cls, values: Iterable[JsonScalar]) -> Self:
        listed = list(values)
        globs = [value for value in listed if isinstance(value, str) and "*" in value]
        return cls(
            exact=frozenset((isinstance(value, bool), value) for value in listed),
            globs=tuple(Glob.of(glob) for glob in globs),
            is_anything="*" in globs,
        )

    def accept(self, value: object, *, every: bool = False) -> bool:
        """
        Say whether a value is one of them; of a list any item may be, or with *every* all must be.

        An empty list is none of them.
        """
        if self.is_anything:
            return True
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            found = (self._accept_one(item) for item in value)
            return bool(value) and (all(found) if every else any(found))
        return self._accept_one(value)

    def _accept_one(self, value: object) -> bool:
        if not isinstance(value, str | int | float):
            return False
        if (isinstance(value, bool), value) in self.exact:
            return True
        return isinstance(value, str) and any(glob.matches(value) for glob in self.globs)
