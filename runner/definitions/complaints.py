"""A model's errors in words for the author of a file; no word quotes a value."""

from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic_core import ErrorDetails

from runner.definitions.codes import Code
from runner.definitions.nodes import Mapping, Node, Scalar
from runner.definitions.scalars import PATTERNS
from runner.definitions.variants import BAD_VARIANT, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What to say of an error, and where beside the value it points to."""

    code: Code
    message: str
    hint: str = ""
    #: Whether the key is meant rather than its value.
    at_key: bool = False
    #: The key of the value that is meant, one level below.
    at_child: str | None = None


_Context: TypeAlias = ReadOnly[str, object]

_TYPES: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_BOUNDS: Final = {
    "greater_than_equal": "expected at least {ge}",
    "less_than_equal": "expected at most {le}",
    "decimal_max_places": "expected at most {decimal_places} digits after the point",
    "string_too_short": "expected some text",
    "string_too_long": "expected at most {max_length} characters",
}
_OWN: Final = {
    "bad_duration": Code.BAD_DURATION,
    "bad_url": Code.BAD_URL,
    "several_kinds": Code.KEY_CONFLICT,
}
_MERGE_HINT: Final = "merge keys are not part of YAML 1.2; an alias can stand for a whole value"
_SHOWN_KEYS: Final = 20


def complaint(error: ErrorDetails, node: Node, known: tuple[str, ...]) -> Complaint:
    """
    Put an error into words.

    Args:
        error: As pydantic gives it.
        node: The value it is about, or the mapping that lacks something.
        known: The keys that the mapping around it may have.
    """
    kind = error["type"]
    context: _Context = error.get("ctx", {})
    last = str(error["loc"][-1]) if error["loc"] else ""
    if kind == "extra_forbidden":
        return _unknown_key(last, known)
    if kind == "missing":
        return Complaint(code=Code.MISSING_KEY, message=f"the key {last!r} is missing")
    if kind.startswith(BAD_VARIANT):
        return _variant(kind.removeprefix(BAD_VARIANT), error["msg"], node)
    if kind in _TYPES:
        return Complaint(
            code=Code.WRONG_TYPE, message=f"expected {_TYPES[kind]}", hint=_type_hint(kind, node)
        )
    if kind in _OWN:
        return Complaint(code=_OWN[kind], message=error["msg"], hint=_unit_hint(kind, node))
    return _value(kind, context, node, at_key=last == "[key]")


def _unknown_key(key: str, known: tuple[str, ...]) -> Complaint:
    meant = nearest(key, known)
    if key == "<<":
        hint = _MERGE_HINT
    elif meant:
        hint = f"did you mean {meant!r}?"
    else:
        shown = ", ".join(sorted(known)[:_SHOWN_KEYS])
        hint = f"known keys: {shown}" if shown else ""
    return Complaint(
        code=Code.UNKNOWN_KEY, message=f"unknown key {key[:80]!r}", hint=hint, at_key=True
    )


def _variant(key: str, message: str, node: Node) -> Complaint:
    if key and isinstance(node, Mapping) and key in node.entries:
        return Complaint(code=Code.BAD_VALUE, message=message, at_child=key)
    code = Code.MISSING_KEY if isinstance(node, Mapping) else Code.WRONG_TYPE
    return Complaint(code=code, message=message)


def _type_hint(kind: str, node: Node) -> str:
    if not isinstance(node, Scalar):
        return ""
    if kind == "tuple_type":
        return "put the value in [ ]"
    if kind == "string_type":
        return "put it in quotes if it is text"
    if kind in {"int_type", "float_type"} and node.text.startswith("0"):
        return "a number has no leading zeros"
    return "remove the quotes" if _is_quoted_number(kind, node) else ""


def _is_quoted_number(kind: str, node: Scalar) -> bool:
    return kind == "int_type" and isinstance(node.value, str) and node.text.isdecimal()


def _unit_hint(kind: str, node: Node) -> str:
    is_bare = isinstance(node, Scalar) and node.text.isdecimal()
    return "give a unit, such as s for seconds" if kind == "bad_duration" and is_bare else ""


def _value(kind: str, context: _Context, node: Node, *, at_key: bool) -> Complaint:
    if kind in _BOUNDS:
        message = _BOUNDS[kind].format_map(context)
        return Complaint(code=Code.BAD_VALUE, message=message, at_key=at_key)
    if kind == "literal_error":
        return _choice(str(context.get("expected", "")), node)
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern", ""))
        code, expected = PATTERNS.get(pattern, (Code.BAD_VALUE, "something else"))
        return Complaint(code=code, message=f"expected {expected}", at_key=at_key)
    return Complaint(code=Code.BAD_VALUE, message="this value is not allowed here", at_key=at_key)


def _choice(expected: str, node: Node) -> Complaint:
    choices = [part for part in expected.split("'")[1::2] if part]
    meant = nearest(node.text, choices) if isinstance(node, Scalar) else None
    return Complaint(
        code=Code.BAD_VALUE,
        message=f"expected {expected}",
        hint=f"did you mean {meant!r}?" if meant else "",
    )
