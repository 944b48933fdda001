"""Texts with `{context.account_id}` in them: what a turn is about, put in as values."""

import re
from dataclasses import dataclass
from typing import Final, Self

from pydantic_core import PydanticCustomError
from typing_extensions import override

from runner.definitions.secret import Secret
from runner.definitions.text import Interpolated

#: What a placeholder may start with; a subject has no other values than these.
ROOTS: Final = ("principal", "subject", "context")
SUBJECT_VALUES: Final = ("type", "id", "text")

_PIECE: Final = re.compile(r"\$\$\{[^{}]*\}?|\$\{[^}]*\}|\{\{|\}\}|\{(?P<path>[^{}]*)\}|[{}]")
_VARIABLE: Final = re.compile(r"\$\$\{|(?P<variable>\$\{[^}]*\})")
_PATH: Final = re.compile(r"[a-z]+(\.[A-Za-z0-9_-]+)+")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Where a value stands: a root, then keys."""

    path: tuple[str, ...]


def pieces(template: str) -> tuple[str | Placeholder, ...]:
    """
    Take a template apart; what is between its placeholders stays as it is written.

    A brace that is text is doubled, unless it belongs to a variable, `${NAME}`.

    Raises:
        ValueError: A brace is neither doubled nor around a value that there can be.
    """
    found: list[str | Placeholder] = []
    end = 0
    for match in _PIECE.finditer(template):
        found.append(template[end : match.start()])
        found.append(_piece(match))
        end = match.end()
    found.append(template[end:])
    return tuple(piece for piece in found if piece != "")


def has_variables(template: str) -> bool:
    """Whether any of a template comes from the environment."""
    return any(match["variable"] for match in _VARIABLE.finditer(template))


def without_variables(template: str, stand_in: str) -> str:
    """Write something in place of each variable, whatever that holds."""
    return _VARIABLE.sub(lambda match: stand_in if match["variable"] else match[0], template)


def _piece(match: re.Match[str]) -> str | Placeholder:
    if match["path"] is None:
        if match[0] in {"{", "}"}:
            raise ValueError("a brace encloses a value, as in {context.account_id}, or is doubled")
        return match[0][0] if match[0] in {"{{", "}}"} else match[0]
    path = tuple(match["path"].split("."))
    if not _PATH.fullmatch(match["path"]) or path[0] not in ROOTS:
        raise ValueError(
            "a value starts with principal, subject or context, as in {context.account_id};"
            " double a brace that is text"
        )
    if path[0] == "subject" and path[1:] not in {(name,) for name in SUBJECT_VALUES}:
        raise ValueError("a subject has the values {subject.type}, {subject.id} and {subject.text}")
    return Placeholder(path)


def checked(template: str) -> str:
    """Refuse a template that cannot be read, in words that quote nothing of it."""
    try:
        pieces(template)
    except ValueError as error:
        raise PydanticCustomError("bad_template", "{reason}", {"reason": str(error)}) from error
    return template


class Deferred(Secret):
    """
    A template whose variables are put in when it is used, and only there.

    What it holds, shows and is stored as is what was written: a reference, without the value. Where
    a file is wrong, it is hidden like a secret, for it may be one.
    """

    __slots__ = ()

    @override
    @classmethod
    def from_text(cls, text: str) -> Self:
        written = text.template if isinstance(text, Interpolated) else str(text)
        checked(written)
        return cls(written, shown=written)
