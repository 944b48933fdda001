"""Searches the documentation for the agent `guide`."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / "docs"
#: Stand in any text and tell nothing about it.
COMMON_WORDS = PROJECT / "agents" / "data" / "common_words.txt"
MOST_PASSAGES = 8
#: In words; shorter passages are not much better for being short.
TYPICAL_LENGTH = 40
#: The commonest endings, and what takes their place.
ENDINGS: Final = {"ies": "y", "ied": "y", "ing": "", "ed": "", "es": "", "s": ""}
SHORTEST_STEM = 3
HEADING: Final = re.compile(r"(#+) +(.*)")
#: The names of the columns and the line below them.
TABLE_HEAD: Final = re.compile(r"^\|.*\n\|[-|: ]+\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph, list, block of code or row of a table, and where it stands."""

    file: str
    line: int
    heading: str
    text: str
    words: Counter[str]


def search_docs(words: str, most: int = 3) -> str:
    """
    Find the passages of the documentation that speak of some words, the best first.

    Args:
        words: What to look for; passages with the rarer words come first.
        most: How many passages to show, at most 8.

    Raises:
        ValueError: There is nothing to look for.
    """
    wanted = set(_words(words)) - set(_words(COMMON_WORDS.read_text("utf-8")))
    if not wanted:
        raise ValueError("give at least one word that says what you look for")
    found = _best(_passages(), wanted)[: min(max(most, 1), MOST_PASSAGES)]
    if not found:
        return f"Nothing in the documentation speaks of {', '.join(sorted(wanted))}."
    return "\n\n".join(_show(passage) for passage in found)


def _best(passages: Sequence[Passage], wanted: set[str]) -> list[Passage]:
    """Rank passages: each wanted word counts, a rare one more, a repeated one a little more."""
    holding = Counter(word for passage in passages for word in passage.words)
    weights = {
        word: math.log(1 + len(passages) / holding[word]) for word in wanted if word in holding
    }
    scored = [(_score(passage, weights), passage) for passage in passages]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].file, pair[1].line))
    return [passage for score, passage in ranked if score > 0]


def _score(passage: Passage, weights: Mapping[str, float]) -> float:
    found = weights.keys() & passage.words.keys()
    total = sum(weights[word] * (1 + math.log(passage.words[word])) for word in found)
    return total / math.log(TYPICAL_LENGTH + passage.words.total())


def _passages() -> list[Passage]:
    return [
        passage
        for path in sorted(FOLDER.glob("*.md"))
        for passage in _split(path.name, path.read_text("utf-8"))
    ]


def _split(file: str, text: str) -> Iterator[Passage]:
    """Split a file at empty lines outside code, and tables into their rows."""
    headings: list[str] = []
    block: list[tuple[int, str]] = []
    in_code = False
    text = TABLE_HEAD.sub("\n\n", text)
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        in_code ^= line.startswith("```")
        heading = None if in_code else HEADING.fullmatch(line)
        ends_here = not in_code and (heading or not line.strip() or line.startswith("|"))
        if block and ends_here:
            yield _passage(file, headings, block)
            block = []
        if heading:
            headings = [*headings[: len(heading[1]) - 1], heading[2]]
        elif line.strip() or in_code:
            block.append((number, line))


def _passage(file: str, headings: Sequence[str], block: Sequence[tuple[int, str]]) -> Passage:
    heading = " / ".join(headings)
    text = "\n".join(line for _, line in block)
    return Passage(
        file=file,
        line=block[0][0],
        heading=heading,
        text=text,
        words=Counter(_words(f"{heading} {text}")),
    )


def _words(text: str) -> list[str]:
    """Take a text apart, as `retry_safe` and `--json` are words too."""
    return [_stem(word) for word in re.findall(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", text.lower())]


def _stem(word: str) -> str:
    """Take the ending off, so that `retries`, `retried` and `retry` are one word."""
    for ending, instead in ENDINGS.items():
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending) + instead
    return word


def _show(passage: Passage) -> str:
    return f"{passage.file}, line {passage.line} ({passage.heading}):\n{passage.text}"
