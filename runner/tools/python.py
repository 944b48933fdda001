"""Tools that are Python functions."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType

from pydantic import JsonValue

from runner.core.errors import ConfigError
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Cancellation, ToolContext, ToolRules
from runner.definitions.json_schema import Validator
from runner.definitions.tool import PythonTool
from runner.tools.loading import load_function
from runner.tools.rules import rules_of
from runner.tools.schema import read_docstring, schema_of
from runner.tools.signature import Signature, read_signature
from runner.tools.surroundings import Surroundings


def build(definition: PythonTool, surroundings: Surroundings) -> "FunctionTool":
    """
    Import the function that *definition* names and make a tool of it.

    Raises:
        ConfigError: It may not be named, is not there, or has parameters no model can fill.
    """
    try:
        function = load_function(definition.python, surroundings)
        return _tool(definition, function)
    except ConfigError as error:
        raise ConfigError(
            f"tool {definition.name!r} cannot use {definition.python!r}: {error}"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool:
    """A function, with what its callers have to know of it."""

    spec: ToolSpec
    rules: ToolRules
    function: Callable[..., object]
    signature: Signature
    validator: Validator
    #: What declared parameters are when the model leaves them out.
    defaults: JsonObject

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        """Hold *arguments* against the schema, and then against the function's own types."""
        return self.validator.complaints(arguments) or self.signature.complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> object:
        """
        Call the function; a coroutine runs to its end here, or until the call is cancelled.

        Raises:
            BaseException: Whatever the function raised.
        """
        value = self.function(**self.signature.bind({**self.defaults, **arguments}, context))
        if inspect.isawaitable(value):
            return asyncio.run(_settle(value, context.cancelled))
        return value


def _tool(definition: PythonTool, function: FunctionType) -> FunctionTool:
    declared = definition.parameters
    signature = read_signature(function, typed=declared is None)
    docstring = read_docstring(function)
    description = definition.description or docstring.summary
    if not description:
        raise ConfigError("neither the definition nor the function's docstring describes it")
    if declared is not None:
        _check_declared(declared, signature)
    schema = schema_of(signature, docstring.parameters) if declared is None else declared
    return FunctionTool(
        spec=ToolSpec(name=definition.name, description=description, parameters=schema),
        rules=rules_of(definition),
        function=function,
        signature=signature,
        validator=Validator(schema),
        defaults=_defaults(declared or {}),
    )


def _check_declared(declared: Mapping[str, JsonValue], signature: Signature) -> None:
    """Compare the parameters that the definition declares with those of the function."""
    properties = _properties(declared)
    required = declared.get("required")
    given = {*(required if isinstance(required, list) else ()), *_defaults(declared)}
    unknown = [name for name in properties if name not in signature.names]
    missing = [
        each.name for each in signature.parameters if each.is_required and each.name not in given
    ]
    if unknown:
        raise ConfigError(f"the function has no parameter {unknown[0]!r}, which is declared")
    if missing:
        raise ConfigError(
            f"the function needs {missing[0]!r}: declare it as required or with a default"
        )
    for complaint in signature.complaints(_defaults(declared)):
        raise ConfigError(f"a declared default does not fit the function: {complaint}")


def _defaults(declared: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        name: schema["default"]
        for name, schema in _properties(declared).items()
        if isinstance(schema, dict) and "default" in schema
    }


def _properties(declared: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    properties = declared.get("properties")
    return properties if isinstance(properties, dict) else {}


async def _settle(awaitable: Awaitable[object], cancelled: Cancellation) -> object:
    """Await *awaitable*, and cancel it when *cancelled* is set, from whichever thread."""
    task = asyncio.ensure_future(awaitable)
    unsubscribe = cancelled.subscribe(partial(_cancel, task))
    try:
        return await task
    finally:
        unsubscribe()


def _cancel(task: asyncio.Future[object]) -> None:
    # A loop that has closed in the meantime has nothing left to cancel.
    with suppress(RuntimeError):
        task.get_loop().call_soon_threadsafe(task.cancel)
