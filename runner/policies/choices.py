"""The values that a rule accepts at one key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from runner.definitions.glob import Glob
from runner.definitions.policy import JsonScalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Some values, compiled once; true is not one, and text is not a number."""

    texts: frozenset[str]
    globs: tuple[Glob, ...]
    #: What the globs begin and end with.
    heads: tuple[str, ...]
    tails: tuple[str, ...]
    #: Each with whether it is true or false.
    others: frozenset[tuple[bool, JsonScalar]]
    #: Whether whatever is there is accepted.
    is_anything: bool

    @classmethod
    def of(cls, values: Iterable[JsonScalar]) -> Self:
        listed = list(values)
        texts = frozenset(value for value in listed if isinstance(value, str))
        globs = tuple(Glob.of(text) for text in sorted(texts) if "*" in text)
        return cls(
            texts=texts,
            globs=globs,
            heads=tuple(glob.head for glob in globs),
            tails=tuple(glob.tail or "" for glob in globs),
            others=frozenset(
                (isinstance(value, bool), value) for value in listed if not isinstance(value, str)
            ),
            is_anything="*" in texts,
        )

    def accept(self, value: object, *, every: bool = False) -> bool:
        """
        Say whether a value is one of them; of a list any item may be, or with *every* all must be.

        An empty list is none of them.
        """
        if isinstance(value, str):
            # Most texts are none of the choices, which is to be told soon.
            if value in self.texts:
                return True
            may_match = value.startswith(self.heads) and value.endswith(self.tails)
            return may_match and self._accept_by_glob(value)
        if self.is_anything:
            return True
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            found = (self._accept_item(item) for item in value)
            return bool(value) and (all(found) if every else any(found))
        return self._accept_item(value)

    def _accept_item(self, value: object) -> bool:
        if isinstance(value, str):
            return value in self.texts or self._accept_by_glob(value)
        return isinstance(value, int | float) and (isinstance(value, bool), value) in self.others

    def _accept_by_glob(self, text: str) -> bool:
        return any(glob.matches(text) for glob in self.globs)
