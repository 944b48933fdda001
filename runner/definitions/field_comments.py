"""What the comments in a model's source say of its fields, for editors to show."""

import inspect
import re
from typing import Final

from pydantic import BaseModel

_FIELD: Final = re.compile(r"^ {4}(\w+): ")
_COMMENT: Final = re.compile(r"^ {4}#: (.*)$")


def field_comments(model: type[BaseModel]) -> dict[str, str]:
    """The `#:` comments above the fields of a model and of the models it extends."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, BaseModel) and one is not BaseModel:
            found |= _own_comments(one)
    return found


def _own_comments(model: type[BaseModel]) -> dict[str, str]:
    found: dict[str, str] = {}
    pending: list[str] = []
    for line in inspect.getsource(model).splitlines():
        if comment := _COMMENT.match(line):
            pending.append(comment[1])
        elif pending and (field := _FIELD.match(line)):
            found[field[1]] = " ".join(pending)
            pending = []
    return found
