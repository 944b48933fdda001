"""Keeps the articles of the agent `editor`, and the cards under which they are filed."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

from runner import ToolContext

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / "out" / "articles"
MOST_WORDS = 250
MOST_KEYWORDS = 5


class Article(TypedDict):
    """An article, and where it is."""

    path: str
    headline: str
    words: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """How an article is filed."""

    mark: str
    path: str
    headline: str
    keywords: list[str]


def save_article(headline: str, text: str, context: ToolContext) -> Article:
    """
    Save the article of this task.

    Args:
        headline: What stands above it, on one line.
        text: The article, in plain sentences.
        context: Which task this is.

    Raises:
        ValueError: It says nothing, or too much.
    """
    line, body = " ".join(headline.split()), text.strip()
    words = len(body.split())
    if not line or not words:
        raise ValueError("the headline or the text is empty")
    if words > MOST_WORDS:
        raise ValueError(f"the text has {words} words; shorten it to {MOST_WORDS} or fewer")
    # Named for the task: whatever is saved in it takes the place of what it saved before.
    path = FOLDER / f"{hashlib.sha256(context.turn_id.encode()).hexdigest()[:8]}.md"
    _write(path, f"# {line}\n\n{body}\n")
    return _article(path)


def read_article(path: str) -> Article:
    """
    Read an article that was saved.

    Args:
        path: Where it is, as saving it said.

    Raises:
        LookupError: There is none.
    """
    return _article(_file(path))


def file_article(path: str, keywords: list[str]) -> Card:
    """
    File an article under keywords; filing it again changes its keywords.

    Args:
        path: Where it is, as saving it said.
        keywords: One to five, most telling first.

    Raises:
        LookupError: There is no such article.
        ValueError: The keywords are none, too many, or empty.
    """
    file = _file(path)
    words = [" ".join(word.lower().split()) for word in keywords]
    if not 1 <= len(words) <= MOST_KEYWORDS or not all(words):
        raise ValueError(f"give 1 to {MOST_KEYWORDS} keywords, none of them empty")
    article = _article(file)
    card = Card(
        mark=f"A-{file.stem}",
        path=article["path"],
        headline=article["headline"],
        keywords=words,
    )
    _write(file.with_suffix(".json"), json.dumps(asdict(card)))
    return card


def look_up_card(path: str) -> Card:
    """
    Look up how an article is filed.

    Args:
        path: Where it is, as saving it said.

    Raises:
        LookupError: There is no such article, or it is not filed.
    """
    card = _file(path).with_suffix(".json")
    if not card.is_file():
        raise LookupError(f"{path!r} is not filed")
    return Card(**json.loads(card.read_text("utf-8")))


def _file(path: str) -> Path:
    file = PROJECT / path
    if file.parent != FOLDER or file.suffix != ".md" or not file.is_file():
        raise LookupError(f"there is no article {path!r}; name its path as saving it said")
    return file


def _article(file: Path) -> Article:
    headline, _, body = file.read_text("utf-8").partition("\n")
    return Article(
        path=file.relative_to(PROJECT).as_posix(),
        headline=headline.removeprefix("# "),
        words=len(body.split()),
        text=body.strip(),
    )


def _write(path: Path, text: str) -> None:
    """Write the whole file or none of it, whenever the process may die."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f"{path.suffix}.part")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)
