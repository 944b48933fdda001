"""Templates with `{key}` in them: plain substitution that reaches nothing but the keys given."""

import json
import re
from collections.abc import Mapping
from typing import Final

_PART: Final = re.compile(r"\{\{|\}\}|\{(?P<key>[A-Za-z_][A-Za-z0-9_-]*)\}|[{}]")


def keys(template: str) -> tuple[str, ...]:
    """
    The keys that a template names, each once.

    Raises:
        ValueError: A brace is neither doubled nor around a key.
    """
    found = []
    for match in _PART.finditer(template):
        if match[0] in {"{", "}"}:
            raise ValueError("a brace must enclose a key, as in {path}, or be doubled")
        if match["key"]:
            found.append(match["key"])
    return tuple(dict.fromkeys(found))


def render(template: str, values: Mapping[str, object]) -> str:
    """Put values in; texts as they are, others as JSON, and a key without one stays as written."""

    def part(match: re.Match[str]) -> str:
        key = match["key"]
        if key is None:
            return match[0][0]
        if key not in values:
            return match[0]
        value = values[key]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _PART.sub(part, template)
