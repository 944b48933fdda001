"""What a YAML scalar means, after the core schema of YAML 1.2."""

import math
import re
from typing import Final

from runner.definitions.nodes import ScalarValue

#: The tag of text, whatever it looks like.
TEXT_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str"})

_CONSTANTS: Final[dict[str, ScalarValue]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_STARTS: Final = frozenset("0123456789+-.")
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_LONGEST: Final = 300
_LARGEST: Final = 2**63


def resolve(text: str) -> ScalarValue:
    """
    Read a plain scalar.

    A number with leading zeros is text, since some would read it as octal.

    Raises:
        ValueError: It is a number that is infinite, not a number, or too large.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return _float(text)
    return text


def _integer(text: str) -> int:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    if len(text) > _LONGEST or not -_LARGEST <= (number := int(text, base)) < _LARGEST:
        raise ValueError("a number may have 64 bits at most; quote it if it is text")
    return number


def _float(text: str) -> float:
    number = math.inf if _NOT_FINITE.fullmatch(text) else float(text)
    if not math.isfinite(number):
        raise ValueError("a number must be finite; quote it if it is text")
    return number
