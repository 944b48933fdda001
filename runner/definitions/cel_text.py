"""The words of a condition, and what can be told from them before it is ever evaluated."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

#: What goes through the items of a list or the keys of a mapping.
MACROS: Final = frozenset({"all", "exists", "exists_one", "map", "filter"})

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<text>[rRbB]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"
      |'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"))
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<number>[0-9][0-9A-Fa-fxX]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[uU]?)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of an expression."""

    kind: str
    text: str
    #: Where it starts, from zero.
    offset: int


@dataclass(slots=True, kw_only=True)
class _Group:
    """What stands between two brackets, as far as it was read."""

    #: The name before the opening bracket, where it is called.
    called: str = ""
    #: How deep the macros of the value before the bracket are.
    before: int = 0
    #: How deep those of the value that is being read are, and the deepest of this group.
    chain: int = 0
    deepest: int = 0

    def end_value(self) -> None:
        self.deepest = max(self.deepest, self.chain)
        self.chain = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Something that is called."""

    token: Token
    #: Whether it stands after a value and a full stop.
    is_method: bool


@dataclass(slots=True, kw_only=True)
class Sketch:
    """What an expression's words tell."""

    calls: list[Call] = field(default_factory=list)
    #: The names that its macros bind.
    bound: set[str] = field(default_factory=set)
    #: Through how many macros a value goes at most, one inside or after the other.
    depth: int = 0
    #: The patterns that it matches texts with, as they are written.
    patterns: list[Token] = field(default_factory=list)
    #: Where a pattern is not written out.
    computed_patterns: list[Token] = field(default_factory=list)


def tokens_of(text: str) -> list[Token]:
    """Take an expression apart; spaces and comments are left out."""
    return [
        Token(kind=str(found.lastgroup), text=found[0], offset=found.start())
        for found in _TOKEN.finditer(text)
        if found.lastgroup != "space"
    ]


def sketch_of(tokens: Sequence[Token]) -> Sketch:
    """Look through an expression that is known to be one."""
    sketch = Sketch(depth=_depth(tokens))
    for index, token in enumerate(tokens):
        if token.kind != "word" or _text_at(tokens, index + 1) != "(":
            continue
        is_method = _text_at(tokens, index - 1) == "."
        sketch.calls.append(Call(token=token, is_method=is_method))
        if token.text in MACROS and _text_at(tokens, index + 3) == ",":
            sketch.bound.add(tokens[index + 2].text)
        if token.text == "matches" and is_method:
            pattern = _pattern(tokens, index)
            if pattern is None:
                sketch.computed_patterns.append(token)
            else:
                sketch.patterns.append(pattern)
    return sketch


def _depth(tokens: Sequence[Token]) -> int:
    groups = [_Group()]
    for index, token in enumerate(tokens):
        group = groups[-1]
        if token.kind == "sign" and token.text in _OPENING:
            groups.append(_opened(tokens, index, group))
        elif token.kind == "sign" and token.text in _CLOSING and len(groups) > 1:
            value = _closed(groups.pop())
            groups[-1].chain = value
        elif token.kind == "sign" and token.text != ".":
            group.end_value()
    groups[0].end_value()
    return groups[0].deepest


def _opened(tokens: Sequence[Token], index: int, around: _Group) -> _Group:
    is_word = index > 0 and tokens[index - 1].kind == "word" and tokens[index].text == "("
    called = tokens[index - 1].text if is_word else ""
    return _Group(called=called, before=around.chain)


def _closed(group: _Group) -> int:
    group.end_value()
    if group.called in MACROS:
        return group.before + 1 + group.deepest
    return max(group.before, group.deepest)


def _pattern(tokens: Sequence[Token], index: int) -> Token | None:
    """The text that is all that the call at *index* is given, where it is nothing but a text."""
    if _text_at(tokens, index + 3) == ")" and tokens[index + 2].kind == "text":
        return tokens[index + 2]
    return None


def _text_at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""
