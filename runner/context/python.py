"""Contributors that are Python functions."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType

from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.core.errors import ConfigError
from runner.core.jsonvalue import dump_json, storable
from runner.definitions.context import PythonContext
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A function, which is told of the turn if it has a parameter for that."""

    function: FunctionType
    takes_context: bool

    def read(self, context: ContributorContext, limit: Limit) -> str:
        value: object = self.function(*((context,) if self.takes_context else ()))
        if inspect.isawaitable(value):
            value = asyncio.run(_settle(value, limit))
        if value is None:
            return ""
        return value if isinstance(value, str) else dump_json(storable(value))


def build(definition: PythonContext, surroundings: Surroundings) -> PythonSource:
    """
    Import the function that *definition* names.

    Raises:
        ConfigError: It cannot be used.
    """
    return build_python(definition, surroundings.function_of)


def build_python(
    definition: PythonContext, function_of: Callable[[str], FunctionType]
) -> PythonSource:
    """
    Import the function that *definition* names, by means that are handed in.

    Raises:
        ConfigError: It may not be named, is not there, or wants more than there is to tell.
    """
    try:
        function = function_of(definition.python)
        return PythonSource(function, takes_context=_takes_context(function))
    except ConfigError as error:
        raise ConfigError(
            f"contributor {definition.name!r} cannot use {definition.python!r}: {error}"
        ) from error


def _takes_context(function: FunctionType) -> bool:
    parameters = inspect.signature(function).parameters.values()
    places = [each for each in parameters if each.kind not in {each.VAR_KEYWORD, each.KEYWORD_ONLY}]
    needed = [each for each in parameters if each.default is each.empty and each in places[1:]]
    wanted = [
        each for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty
    ]
    if [each for each in needed if each.kind is not each.VAR_POSITIONAL] or wanted:
        raise ConfigError("the function needs more than one argument: it gets a ContributorContext")
    return bool(places)


async def _settle(awaitable: Awaitable[object], limit: Limit) -> object:
    """Await *awaitable*, and cancel it at the limit, from whichever thread."""
    task = asyncio.ensure_future(awaitable)
    with limit.ending(partial(_cancel, task)):
        return await task


def _cancel(task: asyncio.Future[object]) -> None:
    # A loop that has closed in the meantime has nothing left to cancel.
    with suppress(RuntimeError):
        task.get_loop().call_soon_threadsafe(task.cancel)
