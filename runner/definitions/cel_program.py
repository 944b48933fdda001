"""Conditions in the Common Expression Language: the one place that knows its library."""

import json
import re
from collections.abc import Mapping
from typing import Final

import cel

from runner.core.errors import BadCondition, ConditionFailed
from runner.definitions.cel_text import MACROS, Call, Sketch, Token, sketch_of, tokens_of
from runner.definitions.condition import (
    BUDGET,
    DECLARED,
    FUNCTIONS,
    MAX_DEPTH,
    METHODS,
    Condition,
    Inputs,
    Size,
)
from runner.definitions.variants import nearest

_PLACE: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_TYPES: Final = frozenset({"bool", "bytes", "double", "int", "list", "map", "string", "uint"})
_CONSTANTS: Final = frozenset({"null_type", "type"})
_SAMPLE: Final = {
    name: "sample" if name in {"agent", "tool", "action"} else {} for name in DECLARED
}
#: How the parser speaks, and what is said in place of that.
_WORDS: Final = (
    ("mismatched input '<EOF>'", "something is missing at its end"),
    ("token recognition error at: ", "it cannot be read from "),
    ("mismatched input ", "it does not go on with "),
    ("extraneous input ", "it does not go on with "),
)
#: What other languages write, and what stands for it here.
_ELSEWHERE: Final = (
    (re.compile(r"and\b", re.IGNORECASE), "write && for and"),
    (re.compile(r"or\b", re.IGNORECASE), "write || for or"),
    (re.compile(r"is\b|=(?!=)"), "write == to compare"),
    (re.compile(r"&(?!&)"), "write && for and"),
    (re.compile(r"\|(?!\|)"), "write || for or"),
)
_NEGATION: Final = (re.compile(r"(.*\W)?not\s+\Z", re.DOTALL), "write ! for not")
#: What a pattern costs for each text that it is held against, in steps.
_PATTERN_STEPS: Final = 100
_CHARACTERS_PER_STEP: Final = 1_000
#: How much of a key is told that is not there; a model may have chosen it.
_LONGEST_KEY: Final = 60


class CelCondition:
    """A compiled condition; one serves many threads."""

    def __init__(self, program: cel.Program, sketch: Sketch) -> None:
        self.names: Final = frozenset(program.variables()) & DECLARED
        self._program = program
        self._depth = sketch.depth
        self._step = _PATTERN_STEPS if sketch.patterns else 1

    def holds(self, inputs: Inputs) -> bool:
        """
        Say whether the condition holds.

        Raises:
            ConditionFailed: It cannot be told.
        """
        context, size = inputs.prepared(self.names, _context)
        self._ensure_affordable(size)
        result = _run(self._program, context)
        if not isinstance(result, bool):
            raise ConditionFailed("it is neither true nor false")
        return result

    def _ensure_affordable(self, size: Size) -> None:
        if self._depth == 0:
            return
        step = self._step + size.characters // _CHARACTERS_PER_STEP
        if size.items**self._depth * step > BUDGET:
            raise ConditionFailed("there is too much to go through")


def build(text: str) -> Condition:
    """
    Compile a condition.

    Raises:
        BadCondition: It is not one.
    """
    program = _compiled(text)
    tokens = tokens_of(text)
    sketch = sketch_of(tokens)
    if sketch.depth > MAX_DEPTH:
        raise BadCondition(f"more than {MAX_DEPTH} loops stand inside or after one another")
    _check_names(program, tokens, sketch)
    _check_patterns(text, sketch)
    _try_out(program)
    return CelCondition(program, sketch)


def _compiled(text: str) -> cel.Program:
    try:
        return cel.compile(text)
    except ValueError as error:
        # The expression comes first, and may hold anything.
        found = _PLACE.search(str(error).partition(f"{text!s}': ")[2])
        if found is None:
            raise BadCondition("this is not an expression") from error
        offset = _offset(text, int(found[1]), int(found[2]))
        hint = _meant(text, offset)
        raise BadCondition(_brief(found[3]), offset=offset, hint=hint) from error


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(each) + 1 for each in lines[: line - 1]) + column - 1


def _brief(message: str) -> str:
    """What is wrong, without the list of all that would have been right."""
    text = message.removeprefix("Syntax error: ").partition(" expecting ")[0]
    for theirs, ours in _WORDS:
        text = text.replace(theirs, ours)
    return f"this is not an expression: {text[:160].rstrip()}"


def _meant(text: str, offset: int) -> str:
    """What is written here in place of what other languages have."""
    for pattern, hint in _ELSEWHERE:
        if pattern.match(text, offset):
            return hint
    return _NEGATION[1] if _NEGATION[0].match(text[:offset]) else ""


def _check_names(program: cel.Program, tokens: list[Token], sketch: Sketch) -> None:
    for call in sketch.calls:
        allowed = METHODS | MACROS if call.is_method else FUNCTIONS
        name = call.token.text
        if name not in allowed:
            raise BadCondition(
                f"there is no function {name!r} here",
                offset=call.token.offset,
                hint=_call_hint(call, allowed),
            )
    free = set(program.variables()) - sketch.bound - DECLARED - _TYPES - _CONSTANTS
    for name in sorted(free):
        meant = nearest(name, DECLARED)
        hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(sorted(DECLARED))}"
        raise BadCondition(f"there is no {name!r} here", offset=_first(tokens, name), hint=hint)


def _call_hint(call: Call, allowed: frozenset[str]) -> str:
    name = call.token.text
    if not call.is_method and name in METHODS | MACROS:
        return f"write it after a value, as in value.{name}(…)"
    if call.is_method and name in FUNCTIONS:
        return f"write it before a value, as in {name}(value)"
    meant = nearest(name, allowed)
    return f"did you mean {meant!r}?" if meant else ""


def _check_patterns(text: str, sketch: Sketch) -> None:
    for token in sketch.computed_patterns:
        raise BadCondition(
            "the pattern that a text is matched with has to be written out", offset=token.offset
        )
    for token in sketch.patterns:
        written = text[token.offset : token.offset + len(token.text)]
        try:
            cel.compile(f"''.matches({written})").execute({})
        except Exception as error:
            raise BadCondition("this is not a pattern", offset=token.offset) from error


def _try_out(program: cel.Program) -> None:
    """Find what can never be true or false, whatever is attempted."""
    try:
        result = program.execute(dict(_SAMPLE))
    except TypeError as error:
        raise BadCondition(
            "it combines or compares values whose types do not go together"
        ) from error
    except Exception:  # noqa: BLE001 - a key that the sample lacks, and the like
        return
    if not isinstance(result, bool):
        raise BadCondition("it is neither true nor false")


def _context(values: Mapping[str, object]) -> cel.Context:
    try:
        return cel.Context(dict(values))
    except Exception as error:
        raise ConditionFailed(_why(error)) from error


def _run(program: cel.Program, context: cel.Context) -> object:
    try:
        return program.execute(context)
    except KeyError as error:
        raise ConditionFailed(
            f"there is no {json.dumps(str(error.args[0]).strip(chr(39))[:_LONGEST_KEY])}"
        ) from error
    except Exception as error:
        raise ConditionFailed(_why(error)) from error
    except BaseException as error:
        # What the library itself did not expect is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ConditionFailed("it cannot be evaluated") from error


def _why(error: Exception) -> str:
    match error:
        case TypeError():
            return "it combines or compares values whose types do not go together"
        case ArithmeticError():
            return "a number is too large, or is divided by zero"
        case IndexError():
            return "a list is shorter than that"
        case _:
            return "it cannot be evaluated"


def _first(tokens: list[Token], name: str) -> int:
    return next((token.offset for token in tokens if token.text == name), 0)
