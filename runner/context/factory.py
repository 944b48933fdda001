"""Contributors from their definitions."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from runner.context.cache import Cache
from runner.context.source import Source
from runner.context.surroundings import Surroundings
from runner.context.team import Member, Team
from runner.core.contributing import Contributors, NoContributors
from runner.definitions.context import (
    CommandContext,
    CommonContextKeys,
    ContextDefinition,
    FileContext,
    HttpContext,
    PythonContext,
    SqlContext,
    TextContext,
)
from runner.definitions.snapshot import ResolvedAgent

#: Where each kind is built; the module is imported when the first of its kind is.
_KINDS: Final[Mapping[type[CommonContextKeys], str]] = {
    TextContext: "runner.context.text",
    FileContext: "runner.context.file",
    PythonContext: "runner.context.python",
    HttpContext: "runner.context.http",
    SqlContext: "runner.context.sql",
    CommandContext: "runner.context.command",
}


def build_contributors(
    agent: ResolvedAgent, surroundings: Surroundings, cache: Cache
) -> Contributors:
    """
    Bring an agent's contributors to life.

    Raises:
        ConfigError: One cannot be; the message names it and what it refers to.
    """
    if not agent.context:
        return NoContributors()
    return Team(
        [_member(definition, surroundings) for definition in agent.context],
        definition_hash=agent.content_hash(),
        cache=cache,
        clock=surroundings.clock,
    )


def build_source(definition: ContextDefinition, surroundings: Surroundings) -> Source:
    """
    Bring one definition to life.

    Raises:
        ConfigError: It cannot be.
    """
    build: Callable[[ContextDefinition, Surroundings], Source]
    build = import_module(_KINDS[type(definition)]).build
    return build(definition, surroundings)


def _member(definition: ContextDefinition, surroundings: Surroundings) -> Member:
    return Member(
        name=definition.name,
        about=definition.description,
        source=build_source(definition, surroundings),
        trusted=definition.trusted,
        max_chars=definition.max_chars,
        timeout=definition.timeout.total_seconds(),
        on_error=definition.on_error,
        ttl=None if definition.ttl is None else definition.ttl.total_seconds(),
    )
