"""A function's parameters, and how JSON arguments become what they expect."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, get_type_hints

from pydantic import TypeAdapter, ValidationError

from runner.core.errors import ConfigError
from runner.core.jsonvalue import JsonObject
from runner.core.tooling import ToolContext

#: What a provider takes as a property's name.
_NAME: Final = re.compile(r"[a-zA-Z0-9_]{1,64}")
_UNNAMED: Final = {
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
    inspect.Parameter.POSITIONAL_ONLY,
}
#: How pydantic's messages begin, and what is said in place of that.
_WORDS: Final = {
    "Input should ": " must ",
    "Field required": " is missing",
    "Value error, ": ": ",
    "Assertion failed, ": ": ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that the model fills."""

    name: str
    adapter: TypeAdapter[Any]
    #: What it is when left out; `inspect.Parameter.empty` when it may not be.
    default: object

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """All parameters of a function."""

    parameters: tuple[Parameter, ...]
    #: The parameter that receives the context, when there is one.
    context: str | None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(parameter.name for parameter in self.parameters)

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        """Say which arguments cannot become what the function expects."""
        unknown = [
            f"there is no parameter {name!r}" for name in arguments if name not in self.names
        ]
        refused = [
            complaint
            for parameter in self.parameters
            if parameter.name in arguments
            for complaint in _complaints(parameter, arguments[parameter.name])
        ]
        return (*unknown, *refused)

    def bind(self, arguments: JsonObject, context: ToolContext) -> dict[str, object]:
        """Turn *arguments* into what the function expects; what is left out it fills itself."""
        bound: dict[str, object] = {
            parameter.name: parameter.adapter.validate_python(arguments[parameter.name])
            for parameter in self.parameters
            if parameter.name in arguments
        }
        if self.context is not None:
            bound[self.context] = context
        return bound


def read_signature(function: FunctionType, *, typed: bool) -> Signature:
    """
    Read the parameters of *function*.

    Args:
        function: Whose parameters are read; a decorated function's are those of what it wraps.
        typed: Whether each must have a type, because the schema is made from it. Without types,
            arguments are handed over as they are.

    Raises:
        ConfigError: A parameter cannot be filled from JSON.
    """
    hints = _hints(function)
    parameters = inspect.signature(function).parameters
    contexts = [name for name in parameters if hints.get(name) is ToolContext]
    if len(contexts) > 1:
        raise ConfigError("more than one parameter asks for the context")
    return Signature(
        parameters=tuple(
            _parameter(parameter, hints, typed=typed)
            for name, parameter in parameters.items()
            if name not in contexts
        ),
        context=next(iter(contexts), None),
    )


def _hints(function: FunctionType) -> Mapping[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:  # an annotation is any expression
        raise ConfigError(f"its annotations cannot be read: {error}") from error


def _parameter(parameter: inspect.Parameter, hints: Mapping[str, Any], *, typed: bool) -> Parameter:
    name = parameter.name
    if parameter.kind in _UNNAMED:
        raise ConfigError(f"parameter {name!r} cannot be given by name")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"parameter {name!r} has a name that no model can use")
    if name not in hints and typed:
        raise ConfigError(f"parameter {name!r} has no type, and the tool declares no parameters")
    hint = hints.get(name, object)
    try:
        adapter = TypeAdapter[Any](hint)
    except Exception as error:  # a type may bring code of its own
        raise ConfigError(
            f"parameter {name!r} has a type that JSON cannot carry: {first_line(error)}"
        ) from error
    return Parameter(name=name, adapter=adapter, default=parameter.default)


def _complaints(parameter: Parameter, argument: object) -> Iterator[str]:
    try:
        parameter.adapter.validate_python(argument)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            place = ".".join(str(step) for step in (parameter.name, *each["loc"]))
            yield f"{place!r}{_words(each['msg'])}"
    except Exception as error:  # noqa: BLE001 - a type's own validators are the tool's code
        yield f"{parameter.name!r}: {type(error).__name__}: {error}"


def _words(message: str) -> str:
    """Put what pydantic says into words that follow the place, as they do for a JSON Schema."""
    for start, words in _WORDS.items():
        if message.startswith(start):
            return f"{words}{message.removeprefix(start)}"
    return f": {message[:1].lower()}{message[1:]}"


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
