"""Blocks of the prompt around text that others wrote, which that text cannot close."""

import re
from functools import cache
from typing import Final

from runner.core.jsonvalue import storable_text

#: Every tag with which the prompt marks a block.
_TAGS: Final = ("skill", "skills", "available_skills", "sub_agents")


def block(tag: str, text: str, *, name: str = "") -> str:
    """Put text between the tags of a block; what in it looks like such a tag is written out."""
    opening = f'<{tag} name="{name}">' if name else f"<{tag}>"
    return f"{opening}\n{inert(text)}\n</{tag}>"


def line(name: str, description: str) -> str:
    """Write a name and what it is for as one item of a list."""
    return f"- {name}: {inert(' '.join(description.split()))}".removesuffix(": ")


def inert(text: str) -> str:
    """Write out what in some text looks like a tag of the prompt; the rest stays as it is."""
    return without_tags(storable_text(text), *_TAGS)


def without_tags(text: str, *names: str) -> str:
    """Write out what in some text begins like a tag of these names, however it is spaced."""
    return _tag(names).sub("&lt;", text)


@cache
def _tag(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"<(?=[\s/\u200b-\u200f\u2060\ufeff]*(?:{'|'.join(names)})\b)", re.IGNORECASE
    )
