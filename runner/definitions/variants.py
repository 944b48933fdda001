"""Unions of models told apart before they are validated, so that one mistake is one problem."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from heapq import nlargest
from itertools import takewhile
from typing import Final

from pydantic import BaseModel, Discriminator

#: The variant that is a plain text, beside those that are mappings.
TEXT: Final = "<plain text>"

#: The only variant that is a mapping.
MAPPING: Final = "<mapping>"

#: Starts the type of the error for a value that is no variant; the deciding key, if any, follows.
BAD_VARIANT: Final = "bad_variant:"


#: More words than these are narrowed down before they are compared closely.
_CANDIDATES: Final = 40


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None."""
    candidates = list(known)
    if len(candidates) > _CANDIDATES:
        candidates = nlargest(_CANDIDATES, candidates, key=lambda other: _common(word, other))
    return next(iter(get_close_matches(word, candidates, n=1, cutoff=0.6)), None)


def _common(word: str, other: str) -> int:
    """How many characters two words begin and end with alike."""
    forwards, backwards = zip(word, other, strict=False), zip(word[::-1], other[::-1], strict=False)
    return sum(1 for pairs in (forwards, backwards) for _ in takewhile(_is_alike, pairs))


def _is_alike(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def tag(name: str) -> str:
    """The tag of a variant, marked so that in an error's location it is not taken for a key."""
    return f"<{name}>"


def is_tag(item: object) -> bool:
    """Whether an item of an error's location names a variant."""
    return isinstance(item, str) and item.startswith("<") and item.endswith(">")


def by_shape(expected: str) -> Discriminator:
    """Tell a text from a mapping."""
    return _discriminator(lambda _: MAPPING, expected=expected)


def by_key(*keys: str, expected: str) -> Discriminator:
    """Tell mappings apart by which of these keys, or a misspelling of one, is there."""

    def which(raw: Mapping[str, object]) -> str | None:
        found = next((key for key in keys if key in raw), None)
        guesses = (nearest(key, keys) for key in raw)
        found = found or next((guess for guess in guesses if guess), None)
        return tag(found) if found else None

    return _discriminator(which, expected=expected)


def by_value(key: str, *values: str) -> Discriminator:
    """Tell mappings apart by the value of one key, perhaps misspelt."""

    def which(raw: Mapping[str, object]) -> str | None:
        meant = key if key in raw else nearest(key, raw)
        value = raw.get(meant) if meant else None
        found = nearest(value, values) if isinstance(value, str) else None
        return tag(found) if found else None

    return _discriminator(which, expected=f"{key}: {' or '.join(values)}", key=key)


def _discriminator(
    which: Callable[[Mapping[str, object]], str | None], *, expected: str, key: str = ""
) -> Discriminator:
    def variant(value: object) -> str | None:
        if isinstance(value, BaseModel):
            return which(vars(value))
        if isinstance(value, Mapping):
            return which(value)
        return TEXT if isinstance(value, str) else None

    return Discriminator(
        variant,
        custom_error_type=f"{BAD_VARIANT}{key}",
        custom_error_message=f"expected {expected}",
    )
