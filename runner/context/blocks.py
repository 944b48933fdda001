"""What contributors gave, as blocks that no text can leave or forge."""

from typing import Final

from runner.core.contributing import Subject
from runner.core.jsonvalue import storable_text

_NOTE: Final = "\n… {left_out} characters in the middle are left out …\n"


def context_block(name: str, text: str, *, trusted: bool, about: str = "") -> str:
    """Enclose what a contributor gave; as data, unless it is ours."""
    told = f' about="{_attribute(about)}"' if about.strip() else ""
    inner = text if trusted else escaped(text)
    answer = "yes" if trusted else "no"
    return f'<context name="{name}" trusted="{answer}"{told}>\n{inner}\n</context>'


def subject_block(subject: Subject) -> str:
    """Say what a turn is about, as data."""
    head = f'<subject type="{_attribute(subject.type)}" id="{_attribute(subject.id)}" trusted="no"'
    text = storable_text(subject.text).strip()
    return f"{head}>\n{escaped(text)}\n</subject>" if text else f"{head}/>"


def escaped(text: str) -> str:
    """Take from a text what every tag begins with, so that it neither opens nor closes a block."""
    return text.replace("<", "&lt;")


def cut(text: str, *, max_chars: int) -> str:
    """Cut the middle out of a text that is longer than *max_chars*, and say so."""
    if len(text) <= max_chars:
        return text
    # How long the note is depends on a number of at most as many digits as the length has.
    room = max(max_chars - len(_NOTE.format(left_out=len(text))), 0)
    head, tail = room - room // 2, room // 2
    note = _NOTE.format(left_out=len(text) - head - tail)
    return f"{text[:head]}{note}{text[len(text) - tail :]}"


def _attribute(text: str) -> str:
    line = " ".join(storable_text(text).split())
    return escaped(line).replace('"', "&quot;")
